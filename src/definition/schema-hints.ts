import type { Path } from "./yaml-source.js";

const durationKeys: readonly unknown[] = ["ttl", "timeout", "base", "max", "per"];

/** Whether a duration stands there, and nothing else may. */
export function isDuration(path: Path): boolean {
  if (path[0] !== "endpoints") return path.at(-2) === "cache" && path.at(-1) === "ttl";
  return path.length > 2 && path[2] !== "headers" && durationKeys.includes(path.at(-1));
}

/** Other programs take a number of seconds. */
export function durationHint(path: Path, value: unknown): string | undefined {
  if (!isDuration(path) || !/^[0-9]+(?:\.[0-9]+)?$/.test(String(value))) return undefined;
  return `write ${String(value)}s for that many seconds`;
}

const secretKeys: readonly unknown[] = ["secret_key", "username_key", "password_key", "token_key"];

/** Whether somebody may have written a secret there: then it is not shown. */
export function mayBeSecret(path: Path): boolean {
  const [top, , key, part] = path;
  if (top !== "endpoints") return false;
  return key === "url" || key === "headers" || (key === "auth" && part !== "type" && part !== "header");
}

export function secretHint(path: Path): string | undefined {
  if (path[0] !== "endpoints" || !secretKeys.includes(path.at(-1))) return undefined;
  return "put the secret into an environment variable, and the name of that here";
}

/** What others have that we do not, or call otherwise. */
const foreignKeys: Readonly<Record<string, string>> = {
  adapter: "answers are kept in the store; leave it out",
  retry_config: "did you mean `retry`?",
  retries: "did you mean `retry`?",
};

export const foreignKeyHint = (path: Path, key: string): string | undefined =>
  path[0] === "endpoints" && Object.hasOwn(foreignKeys, key) ? foreignKeys[key] : undefined;
