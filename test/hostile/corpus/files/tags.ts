import type { HostileFile, HostileFiles } from "./parts.js";
import { after, cases, header, otherwise, sound } from "./parts.js";

export const tags: HostileFiles = {
  title: "with tags and directives",
  files: [
    ...[
      "!!js/function 'function () { process.exit(9) }'",
      "!!js/undefined ''",
      "!!js/regexp /(a+)+$/",
      "!!python/object/apply:os.system ['exit 9']",
      "!!ruby/object:Gem::Installer {}",
      "!<tag:yaml.org,2002:js/function> ''",
      "!custom x",
      "!!binary aGk=",
      "!!timestamp 2024-01-01",
      "!!set {a, b}",
      "!!omap [a: 1]",
      "!env HOME",
      "!include /etc/passwd",
    ].map((value): HostileFile => ({
      name: value,
      content: () => `${header}  name: ${value}\n${cases}${otherwise}`,
      is: "broken",
    })),
    {
      name: "tags of YAML itself",
      content: () => sound.replace("id: x", "id: !!str x").replace("  cases:", "  cases: !!seq"),
      is: "sound",
    },
    {
      name: "a tag that says otherwise",
      content: () => `${header}  name: !!int x\n${cases}${otherwise}`,
      is: "broken",
    },
    { name: "200,000 tags on one node", content: () => after("!a ".repeat(200_000)), is: "broken" },
    { name: "a tag of 1 MB", content: () => after(`!${"a".repeat(1_000_000)} b\n`), is: "broken" },
    { name: "a directive nobody knows", content: () => `%EVAL process.exit(9)\n---\n${sound}`, is: "broken" },
    { name: "a version nobody knows", content: () => `%YAML 9.9\n---\n${sound}`, is: "broken" },
    {
      name: "20,000 tag directives",
      content: () => `${"%TAG !e! tag:example.com,2000:\n".repeat(20_000)}---\n${sound}`,
      is: "sound or broken",
    },
  ],
};
