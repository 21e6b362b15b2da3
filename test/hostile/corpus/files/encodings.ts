import type { HostileFiles } from "./parts.js";
import { cases, sound } from "./parts.js";

const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Uint8Array.from(part))));

export const encodings: HostileFiles = {
  title: "in bytes that are no plain text",
  spawned: true,
  files: [
    { name: "NUL at the end", content: () => bytes(sound, [0]), is: "broken", at: "1:1" },
    { name: "NUL in a name", content: () => bytes(sound, "  name: a", [0], "b\n"), is: "broken", at: "1:1" },
    { name: "nothing but NUL", content: () => new Uint8Array(100_000), is: "illegible", at: "1:1" },
    {
      name: "a byte that is no UTF-8",
      content: () => bytes("# ", [0xff], "\n", sound),
      is: "broken",
      at: "1:1",
    },
    {
      name: "half a character at the end",
      content: () => bytes(sound, "# ", [0xe2, 0x82]),
      is: "broken",
      at: "1:1",
    },
    {
      name: "a character in too many bytes",
      content: () => bytes("# ", [0xc0, 0xaf], "\n", sound),
      is: "broken",
      at: "1:1",
    },
    {
      name: "half a surrogate pair",
      content: () => bytes("# ", [0xed, 0xa0, 0x80], "\n", sound),
      is: "broken",
      at: "1:1",
    },
    { name: "Latin-1", content: () => Buffer.from(`# größer\n${sound}`, "latin1"), is: "broken", at: "1:1" },
    {
      name: "UTF-16, little end first",
      content: () => Buffer.from(`\ufeff${sound}`, "utf16le"),
      is: "illegible",
      at: "1:1",
    },
    {
      name: "UTF-16, big end first",
      content: () => Buffer.from(`\ufeff${sound}`, "utf16le").swap16(),
      is: "illegible",
      at: "1:1",
    },
    {
      name: "UTF-16 without a mark",
      content: () => Buffer.from(sound, "utf16le"),
      is: "illegible",
      at: "1:1",
    },
    {
      name: "a picture",
      content: () =>
        bytes([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], new Array<number>(1_000).fill(0xd8)),
      is: "illegible",
      at: "1:1",
    },
    {
      name: "gzip",
      content: () => bytes([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], new Array<number>(1_000).fill(0x9d)),
      is: "illegible",
      at: "1:1",
    },
    { name: "a byte order mark", content: () => bytes([0xef, 0xbb, 0xbf], sound), is: "sound" },
    {
      name: "a byte order mark in the middle",
      content: () => `${sound}\ufefftargets: [t, d]\n`,
      is: "broken",
    },
    { name: "line ends of Windows", content: () => sound.replaceAll("\n", "\r\n"), is: "sound" },
    { name: "line ends of both kinds", content: () => sound.replace("\n", "\r\n"), is: "sound" },
    { name: "line ends of an old Mac", content: () => sound.replaceAll("\n", "\r"), is: "broken" },
    { name: "tabs for indentation", content: () => sound.replaceAll("  ", "\t"), is: "broken" },
    {
      name: "escape sequences in a key",
      content: () => `${sound}"\\e[2J\\a\\u202e": 1\n`,
      is: "broken",
      at: "7:1",
    },
    {
      name: "raw escape sequences in a key",
      content: () => `${sound}\u001b[2J\u0007: 1\n`,
      is: "broken",
      at: "7:1",
    },
    {
      name: "escape sequences in a value",
      content: () => sound.replace("switch", '"\\e]0;owned\\a"'),
      is: "broken",
      at: "3:9",
    },
    {
      name: "escape sequences in a label that is used twice",
      content: () =>
        sound.replace(
          cases,
          `  cases:\n${'    - {condition: "a == 1", target: t, label: "\\e[31m"}\n'.repeat(2)}`,
        ),
      is: "broken",
    },
    {
      name: "escape sequences in a condition",
      content: () => sound.replace('"a == 1"', "\"1 '\\e[2J'\""),
      is: "broken",
    },
    { name: "line breaks in a key", content: () => `${sound}"a\\nb\\r\\nc": 1\n`, is: "broken", at: "7:1" },
    { name: "no final line break", content: () => sound.trimEnd(), is: "sound" },
  ],
};
