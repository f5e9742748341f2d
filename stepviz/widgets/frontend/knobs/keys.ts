/** For every element that takes the focus: JupyterLab then leaves its keys alone.
 *
 * On a parent it is not enough. Lumino looks from the target up, and shortcuts of command mode match
 * whatever is focused and can't be written in, such as a slider, before they see the parent.
 */
export const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" } as const;
