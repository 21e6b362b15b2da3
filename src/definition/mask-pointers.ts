/** As a step of a mask: every item of a list, or every value of an object. */
export const everything = "*";

/** The steps of a JSON pointer (RFC 6901). */
export function stepsOf(pointer: string): readonly string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Whether a path of an expression may lead to, into or past a masked value. */
export function readsMasked(path: string, pointers: readonly string[]): boolean {
  const steps = path.split(".");
  return pointers.some((pointer) => {
    const masked = stepsOf(pointer);
    return overlap(steps, masked) || (steps[0] === "context" && overlap(steps.slice(1), masked));
  });
}

const overlap = (read: readonly string[], masked: readonly string[]): boolean =>
  masked.every((step, index) => step === everything || read[index] === undefined || read[index] === step);
