/** Characters that command a terminal (line breaks and tabs apart), or turn the order of a text around. */
const commanding = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A text as a person can safely be shown it: whatever would act on the terminal is written out. */
export function printable(text: string): string {
  return text.replace(commanding, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
    return `\\u${code}`;
  });
}
