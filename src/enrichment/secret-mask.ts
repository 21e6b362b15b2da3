import type { Json } from "../model/json.js";

/** Removes secrets from everything that comes back from an endpoint. */
export interface SecretMask {
  text(text: string): string;
  /** Also masks keys and numbers. A short secret is masked only where it is the whole value. */
  data(data: Json): Json;
}

const placeholder = "[secret]";

/** Shorter texts appear in other data by chance: `61` is `a` in hexadecimal. */
const minLength = 6;

/** Masks each secret as it is, in any letter case, and as it is encoded in URLs, JSON, hexadecimal and base64. */
export function createSecretMask(secrets: readonly string[]): SecretMask {
  const present = secrets.filter((secret) => secret !== "");
  if (present.length === 0) return { text: (text) => text, data: (data) => data };
  const text = maskerFor(present);
  const maskLong = maskerFor(present.filter(({ length }) => length >= minLength));
  const short = new Set(present.filter(({ length }) => length < minLength));
  const maskValue = (value: string): string => (short.has(value) ? placeholder : maskLong(value));
  return { text, data: (data) => maskData(data, { key: maskLong, value: maskValue }) };
}

type MaskText = (text: string) => string;

function maskerFor(secrets: readonly string[]): MaskText {
  const spellings = new Set(secrets.flatMap(spellingsOf));
  if (spellings.size === 0) return (text) => text;
  // The longest first: a shorter one may be part of it.
  const ordered = [...spellings].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(ordered.map(escapeForPattern).join("|"), "gi");
  return (text) => text.replace(pattern, placeholder);
}

function maskData(data: Json, mask: { readonly key: MaskText; readonly value: MaskText }): Json {
  switch (typeof data) {
    case "string":
      return mask.value(data);
    case "number":
      return mask.value(String(data)) === String(data) ? data : placeholder;
    case "boolean":
      return data;
    default:
      if (data === null) return data;
      if (Array.isArray(data)) return (data as readonly Json[]).map((item) => maskData(item, mask));
      return Object.fromEntries(
        Object.entries(data).map(([key, value]) => [mask.key(key), maskData(value, mask)]),
      );
  }
}

/** Returns the secret in each encoding, and these encoded once more: JSON inside URLs, base64 inside JSON. */
function spellingsOf(secret: string): readonly string[] {
  const once = [secret, secret.trim(), JSON.stringify(secret).slice(1, -1), base64(Buffer.from(secret))];
  return once.flatMap((text) => [text, ...encodedSpellings(text)]).filter((text) => text !== "");
}

function encodedSpellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Decoding replaces lone surrogates, which no URL can contain.
  const text = bytes.toString();
  const inUrl = [encodeURIComponent(text), new URLSearchParams([["", text]]).toString().slice(1)];
  return [
    ...inUrl,
    ...inUrl.map((each) => each.replace(/%../g, (escape) => escape.toLowerCase())),
    ...base64Spellings(bytes),
    ...longEnough([bytes.toString("hex"), bytes.toString("hex").toUpperCase()]),
  ];
}

/** Returns the base64 of the bytes alone, and of their middle part at each of the three offsets in a longer text. */
function base64Spellings(bytes: Buffer): readonly string[] {
  const parts = [0, 1, 2].map((offset) => {
    const whole = base64(Buffer.concat([Buffer.alloc(offset), bytes]));
    // Drops the characters that also encode neighbouring bytes.
    return whole.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const alone = base64(bytes);
  const all = [alone, ...longEnough([alone.replace(/=+$/, ""), ...parts])];
  return all.flatMap((text) => [text, text.replace(/\+/g, "-").replace(/\//g, "_")]);
}

const base64 = (bytes: Buffer): string => bytes.toString("base64");

const longEnough = (spellings: readonly string[]): readonly string[] =>
  spellings.filter(({ length }) => length >= minLength);

const escapeForPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
