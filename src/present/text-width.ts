const wide =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\uff01-\uff60]/gu;
const combining = /\p{Mark}/gu;
const halves = /[\udc00-\udfff]/g;

/** How many places a text takes on a terminal. */
export function widthOf(text: string): number {
  // eslint-disable-next-line no-control-regex -- what has no character beyond these takes one place each
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  return text.length - countOf(halves, text) + countOf(wide, text) - countOf(combining, text);
}

const countOf = (pattern: RegExp, text: string): number => text.match(pattern)?.length ?? 0;

/** The beginning of a text that is too long for so many places. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let shown = "";
  let left = width - 1;
  for (const character of text) {
    left -= widthOf(character);
    if (left < 0) break;
    shown += character;
  }
  return `${shown}…`;
}
