/** The time range on the screen: zooming, panning, and how far both may go. */

export interface Range { readonly start: number; readonly finish: number }

export const length = (range: Range): number => range.finish - range.start;

/** No closer than this, in ns over the whole width. */
const CLOSEST = 40;

/** What can be seen at all: the lanes, and a little around them. */
export function limitsOf(begin: number, span: number): Range {
  const room = 0.04 * (span - begin);
  return { start: begin - room, finish: span + room };
}

/** The step, with a little room on both sides. */
export function fitted(span: number): Range {
  return { start: -0.008 * span, finish: 1.012 * span };
}

/** Keep a range within the limits, its length if it can be. */
export function within(range: Range, limits: Range): Range {
  const most = length(limits);
  const size = Math.min(most, Math.max(CLOSEST, length(range)));
  const middle = (range.start + range.finish) / 2;
  const start = size === length(range) ? range.start : middle - size / 2;
  const moved = Math.min(Math.max(start, limits.start), limits.finish - size);
  return { start: moved, finish: moved + size };
}

/** Zoom in by a factor (out below 1) so that `time` stays where it is on the screen. */
export function zoomed(range: Range, time: number, factor: number, limits: Range): Range {
  const size = Math.min(length(limits), Math.max(CLOSEST, length(range) / factor));
  const share = (time - range.start) / length(range);
  const start = time - share * size;
  return within({ start, finish: start + size }, limits);
}

export function panned(range: Range, by: number, limits: Range): Range {
  return within({ start: range.start + by, finish: range.finish + by }, limits);
}

/** A range around a piece that shows it whole, and what is beside it. */
export function around(start: number, finish: number, limits: Range, room = 1): Range {
  const size = Math.max(finish - start, CLOSEST / 4);
  return within({ start: start - room * size, finish: finish + room * size }, limits);
}

/**
 * The least change of a range that shows a piece: moved where it is out of sight or at the edge,
 * zoomed in where the piece would be narrower than `least` of the width.
 */
export function showing(range: Range, start: number, finish: number, limits: Range, least = 0.01): Range {
  const size = finish - start;
  if (size < least * length(range)) {
    const closer = Math.max(size / (4 * least), length(range) / 4096);
    if (closer < length(range)) return within(centred(start, finish, closer), limits);
  }
  if (size > length(range)) return around(start, finish, limits, 0.1);
  const edge = 0.05 * length(range);
  if (start >= range.start + edge && finish <= range.finish - edge) return range;
  return within(centred(start, finish, length(range)), limits);
}

function centred(start: number, finish: number, size: number): Range {
  const middle = (start + finish) / 2;
  return { start: middle - size / 2, finish: middle + size / 2 };
}

/** A part of the way from one range to another; the whole way once it is hardly to be seen. */
export function towards(from: Range, to: Range, share: number, width: number): Range {
  const near = length(to) / Math.max(width, 1) / 4;
  if (Math.abs(to.start - from.start) < near && Math.abs(to.finish - from.finish) < near) return to;
  return {
    start: from.start + share * (to.start - from.start),
    finish: from.finish + share * (to.finish - from.finish),
  };
}

export const same = (a: Range, b: Range): boolean => a.start === b.start && a.finish === b.finish;
