/** A path without detours, so that `./a//b/../c` and `a/c` are the same. Nothing is looked up. */
export function normalPath(path: string): string {
  const isAbsolute = path.startsWith("/");
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (!isAbsolute) steps.push(step);
  }
  return (isAbsolute ? "/" : "") + steps.join("/") || ".";
}
