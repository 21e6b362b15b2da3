import type { Json } from "../model/json.js";

/** Takes secrets out of whatever comes back from where they were sent. */
export interface SecretMask {
  text(text: string): string;
  /** Also out of keys, and out of numbers; of short secrets only values that are nothing else. */
  data(data: Json): Json;
}

const placeholder = "[secret]";

/** A shorter one stands in other data by chance: there only what is nothing else is taken out. */
const minLength = 6;

/** Finds each secret as it is, in capitals or not, and as it is written in URLs, in JSON, in hex and in base64. */
export function createSecretMask(secrets: readonly string[]): SecretMask {
  const given = secrets.filter((secret) => secret !== "");
  if (given.length === 0) return { text: (text) => text, data: (data) => data };
  const text = maskerFor(given);
  const within = maskerFor(given.filter(({ length }) => length >= minLength));
  const short = new Set(given.filter(({ length }) => length < minLength));
  const value = (shown: string): string => (short.has(shown) ? placeholder : within(shown));
  return { text, data: (data) => maskData(data, { key: within, value }) };
}

type MaskText = (text: string) => string;

function maskerFor(secrets: readonly string[]): MaskText {
  const spellings = new Set(secrets.flatMap(spellingsOf));
  if (spellings.size === 0) return (text) => text;
  // The longest first: a shorter one may be a part of it.
  const ordered = [...spellings].sort((one, other) => other.length - one.length);
  const pattern = new RegExp(ordered.map(escapeForPattern).join("|"), "gi");
  return (shown) => shown.replace(pattern, placeholder);
}

function maskData(data: Json, hide: { readonly key: MaskText; readonly value: MaskText }): Json {
  switch (typeof data) {
    case "string":
      return hide.value(data);
    case "number":
      return hide.value(String(data)) === String(data) ? data : placeholder;
    case "boolean":
      return data;
    default:
      if (data === null) return data;
      if (Array.isArray(data)) return (data as readonly Json[]).map((item) => maskData(item, hide));
      return Object.fromEntries(
        Object.entries(data).map(([key, value]) => [hide.key(key), maskData(value, hide)]),
      );
  }
}

/** Each as it is and in each way of writing, and these in each way again: JSON is put into URLs, base64 into JSON. */
function spellingsOf(secret: string): readonly string[] {
  const once = [secret, secret.trim(), JSON.stringify(secret).slice(1, -1), base64(Buffer.from(secret))];
  return once.flatMap((text) => [text, ...encodedSpellings(text)]).filter((text) => text !== "");
}

function encodedSpellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Without halves of characters, which no URL can hold.
  const text = bytes.toString();
  const inUrl = [encodeURIComponent(text), new URLSearchParams([["", text]]).toString().slice(1)];
  return [
    ...inUrl,
    ...inUrl.map((each) => each.replace(/%../g, (escape) => escape.toLowerCase())),
    ...base64Spellings(bytes),
    ...longEnough([bytes.toString("hex"), bytes.toString("hex").toUpperCase()]),
  ];
}

/** On its own, and within something longer: there it begins at any of three places of a group. */
function base64Spellings(bytes: Buffer): readonly string[] {
  const parts = [0, 1, 2].map((before) => {
    const whole = base64(Buffer.concat([Buffer.alloc(before), bytes]));
    // What it shares with its neighbours is not its own.
    return whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const alone = base64(bytes);
  const all = [alone, ...longEnough([alone.replace(/=+$/, ""), ...parts])];
  return all.flatMap((text) => [text, text.replace(/\+/g, "-").replace(/\//g, "_")]);
}

const base64 = (bytes: Buffer): string => bytes.toString("base64");

/** Shorter ones stand in other data by chance, such as `61`, which is `a` in hex. */
const longEnough = (spellings: readonly string[]): readonly string[] =>
  spellings.filter(({ length }) => length >= 6);

const escapeForPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
