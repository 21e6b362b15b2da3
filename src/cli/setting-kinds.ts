import { resolve } from "node:path";
import { withHome } from "./agent-home.js";
import type { Io } from "./io.js";

/** Where a value stands, as far as its meaning depends on it. */
export interface Place {
  readonly env: Io["env"];
  /** What relative paths are taken from; undefined: they stay as they are. */
  readonly base: string | undefined;
  /** Flags and variables are text; in a settings file a number is a number. */
  readonly isText: boolean;
}

/** What the values of a setting look like. */
export interface Kind<T> {
  /** As in "must be …". */
  readonly expected: string;
  readonly schema: object;
  /** Undefined where the value is not as expected. */
  parse(value: unknown, place: Place): T | undefined;
}

export function path(expected: string, { but }: { readonly but?: RegExp } = {}): Kind<string> {
  return {
    expected,
    schema: { type: "string", minLength: 1 },
    parse: (value, { env, base }) => {
      if (typeof value !== "string" || value === "" || value.includes("\0") || but?.test(value))
        return undefined;
      const whole = withHome(value, env);
      return base === undefined ? whole : resolve(base, whole);
    },
  };
}

export function choice<T extends string>(...choices: readonly T[]): Kind<T> {
  return {
    expected: choices.map((each) => `\`${each}\``).join(" or "),
    schema: { enum: choices },
    parse: (value) => choices.find((each) => each === value),
  };
}

export function integer(minimum: number, maximum: number): Kind<number> {
  return {
    expected: `a whole number from ${minimum} to ${maximum}`,
    schema: { type: "integer", minimum, maximum },
    parse: (value, { isText }) => {
      const number = isText && /^\d{1,10}$/.test(String(value)) ? Number(value) : value;
      const fits = Number.isInteger(number) && Number(number) >= minimum && Number(number) <= maximum;
      return fits ? Number(number) : undefined;
    },
  };
}

/** Texts know `1` and `0` too. */
export function yesOrNo(): Kind<boolean> {
  return {
    expected: "`true` or `false`",
    schema: { type: "boolean" },
    parse: (value, { isText }) => {
      if (!isText) return typeof value === "boolean" ? value : undefined;
      if (value === "true" || value === "1") return true;
      return value === "false" || value === "0" ? false : undefined;
    },
  };
}

/** Public keys on one line or in PEM, or the paths of files of them; as one text with commas, or as a list. */
export function keys(): Kind<string> {
  return {
    expected: "public keys: `ed25519:…` or the paths of PEM files, separated by commas",
    schema: { type: "string", minLength: 1 },
    parse: (value, place) => {
      const written: readonly unknown[] = Array.isArray(value) ? value : listIn(String(value));
      const known = written.map((each) => parseKey(each, place));
      return known.length === 0 || known.includes(undefined) ? undefined : known.join(",");
    },
  };
}

const keyFile = path("the path of a file", { but: /-----BEGIN|,/ });

function listIn(text: string): readonly unknown[] {
  if (!text.trimStart().startsWith("[")) return text.split(",");
  try {
    return JSON.parse(text) as readonly unknown[];
  } catch {
    return [undefined];
  }
}

function parseKey(written: unknown, place: Place): string | undefined {
  if (typeof written !== "string") return undefined;
  const text = written.trim();
  const pem = publicPem.exec(text)?.[1];
  if (pem !== undefined) return parseKey(`ed25519:${pem.replaceAll(/\s/g, "")}`, place);
  if (!text.startsWith("ed25519:")) return keyFile.parse(text, place);
  return /^ed25519:[A-Za-z0-9+/]{43}=$/.test(text) ? text : undefined;
}

/** An Ed25519 key in PEM: sixteen letters that are always the same (RFC 8410), and its 32 bytes in base64. */
const publicPem =
  /^-----BEGIN PUBLIC KEY-----\s*MCowBQYDK2VwAyEA([A-Za-z0-9+/\s]+=)\s*-----END PUBLIC KEY-----$/;
