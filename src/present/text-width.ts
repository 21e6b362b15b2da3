const wide =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\uff01-\uff60]/gu;
const combining = /\p{Mark}/gu;
const halves = /[\udc00-\udfff]/g;

/** How many places a text takes on a terminal. */
export function displayWidth(text: string): number {
  // eslint-disable-next-line no-control-regex -- what has no character beyond these takes one place each
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  return text.length - countOf(halves, text) + countOf(wide, text) - countOf(combining, text);
}

const countOf = (pattern: RegExp, text: string): number => text.match(pattern)?.length ?? 0;

/** The beginning of a text that is too long for so many places. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let shown = "";
  let left = width - 1;
  for (const character of text) {
    left -= displayWidth(character);
    if (left < 0) break;
    shown += character;
  }
  return `${shown}…`;
}

/** A text in lines of at most so many places, the first of them shorter; what has no space is never broken. */
export function wrap(
  text: string,
  { first, rest }: { readonly first: number; readonly rest: number },
): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    const room = lines.length === 0 ? first : rest;
    // A word that fits nowhere stands on a line of its own.
    if (displayWidth(longer) <= room || (line === "" && room >= rest)) {
      line = longer;
    } else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
