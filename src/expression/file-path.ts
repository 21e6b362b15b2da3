/** Splits a path into its steps without `.`, and without `..` where the parent is known. */
function stepsOf(path: string): readonly string[] {
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (!isAbsolute(path)) steps.push(step);
  }
  return steps;
}

export const isAbsolute = (path: string): boolean => path.startsWith("/");

/**
 * Normalizes a path, so that `./a//b/../c` and `a/c` are equal. Does not access the file system. `./~` stays, because
 * some tools replace `~` at the start of a path.
 */
export function normalizePath(path: string): string {
  const steps = stepsOf(path).join("/");
  if (isAbsolute(path)) return `/${steps}`;
  return steps.startsWith("~") && !path.startsWith("~") ? `./${steps}` : steps || ".";
}

/** Whether a path is the base or below it. Both are absolute, or both relative to the same directory. */
export function isWithin(path: string, base: string): boolean {
  const steps = stepsOf(path);
  const baseSteps = stepsOf(base);
  // After the base `..`, another `..` leads out of it.
  return baseSteps.every((step, index) => step === steps[index]) && steps[baseSteps.length] !== "..";
}

/**
 * Whether all tools read a text as the same path. A backslash is a separator for some and part of a name for
 * others, and a NUL ends the path for some.
 */
export const isUnambiguousPath = (text: string): boolean => text !== "" && !/[\\\0]/.test(text);
