interface SplitPath {
  /** The start that `..` cannot leave: `/`, a drive such as `C:/`, a home directory such as `~`, or empty. */
  readonly root: string;
  /** The steps below the root without `.`, and without `..` where the parent is known. */
  readonly steps: readonly string[];
}

function split(path: string): SplitPath {
  const root = rootOf(path);
  const steps: string[] = [];
  for (const step of path.slice(root.length).split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (root !== "/") steps.push(step);
  }
  return { root, steps };
}

export const rootOf = (path: string): string => /^(?:\/|~[^/]*|[a-z]:\/?)/i.exec(path)?.[0] ?? "";

/**
 * Normalizes a path, so that `./a//b/../c` and `a/c` are equal. Does not access the file system. A relative path keeps
 * `./` where tools would read the rest as another kind of path, such as `./~` or `./C:`.
 */
export function normalizePath(path: string): string {
  const { root, steps } = split(path);
  const below = steps.join("/");
  if (root.startsWith("~")) return below === "" ? root : `${root}/${below}`;
  if (root !== "") return root + below;
  if (below === "") return ".";
  return rootOf(below) === "" && isUnambiguousPath(below) ? below : `./${below}`;
}

/** Whether a path is the base or below it. Both have the same root. */
export function isWithin(path: string, base: string): boolean {
  const [{ root, steps }, of] = [split(path), split(base)];
  // After the base `..`, another `..` leads out of it.
  return (
    root === of.root &&
    of.steps.every((step, index) => step === steps[index]) &&
    steps[of.steps.length] !== ".."
  );
}

/**
 * Whether all tools read a text as the same path. A backslash is a separator for some and part of a name for others,
 * a control character or a space at the start is dropped by some, a URL has a host, and `..` above a drive such as
 * `C:/..` is the drive for some and the current directory for others.
 */
export function isUnambiguousPath(text: string): boolean {
  if (text === "" || ambiguousCharacters.test(text) || url.test(text)) return false;
  const isOnDrive = /^[a-z]:/i.test(text);
  return !isOnDrive || split(text).steps[0] !== "..";
}

const ambiguousCharacters = /^\s|\\|\p{Cc}/u;

/** A scheme without a slash counts: `file:etc` is a URL for some tools. */
const url = /^[a-z][a-z0-9+.-]+:\S/i;
