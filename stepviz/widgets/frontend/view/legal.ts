/** Texts as an XML file can hold them (no DOM). */

/** Signs that no XML holds, however they are written: most controls, halves of characters. */
const ILLEGAL = /[\0-\x08\x0b\x0c\x0e-\x1f\p{Cs}\ufffe\uffff]/gu;

/** With a replacement for every sign that would make a drawing unreadable. */
export const legal = (content: string): string => content.replace(ILLEGAL, "\ufffd");
