import { describe, expect, it } from "vitest";
import { compileText } from "../../src/expression/template.js";

describe("a text for people", () => {
  const context = { name: "Eve", n: 1, o: { b: [true, null], a: 1 } };
  const scope = { context, input: undefined, facts: {}, system: {} };

  it.each([
    ["is as it is written", "no template", "no template"],
    ["is filled in", "hello {{ name }}, ${ n + 1 }", "hello Eve, 2"],
    ["shows a value that stands alone", "{{ n }}", "1"],
    ["shows an object as JSON", "{{ o }}", '{"a":1,"b":[true,null]}'],
    ["says so where there is nothing to fill in", "hello {{ nobody }}", "hello (`nobody` is missing)"],
    [
      "is filled in as far as can be",
      "{{ n }} is too many for ${who}",
      "1 is too many for (`who` is missing)",
    ],
  ])("%s", (_claim, text, shown) => {
    expect(compileText(text).render(scope)).toBe(shown);
  });

  it("lists the paths it reads, each path once", () => {
    expect(compileText("{{ n }} of {{ o.a + n }}").reads).toEqual(["n", "o.a"]);
  });

  it("has whatever is wanted in place of what cannot be filled in", () => {
    const text = compileText("{{ n }}, ${ who } and {{ o.c }}", ({ message }) => `<${message}>`);
    expect(text.render(scope)).toBe("1, <`who` is missing> and <`o.c` is missing>");
    expect(text.reads).toEqual(["n", "who", "o.c"]);
  });
});
