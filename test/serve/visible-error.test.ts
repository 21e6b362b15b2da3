import { expect, it } from "vitest";
import type { ErrorCode } from "../../src/errors.js";
import { DecisionError } from "../../src/errors.js";
import { visibleError } from "../../src/serve/visible-error.js";

it("shows the problems of the request, but no files", () => {
  const errors = [{ path: "context", message: "`context` is missing" }];
  const problems = [{ file: "decisions/secret.yaml", line: 1, column: 1, message: "?" }];
  const error = new DecisionError("input_invalid", "no", { hint: "yes", details: { errors, problems } });
  expect(visibleError(error, "http")).toMatchObject({ code: "input_invalid", message: "no", hint: "yes" });
  expect(visibleError(error, "http").details).toEqual({ errors });
});

it.each([[undefined], [null], ["text"], [{ problems: [] }]])("shows no details of %j", (details) => {
  expect(visibleError(new DecisionError("input_invalid", "no", { details }), "http").details).toBeUndefined();
});

it.each<[ErrorCode, string, string | undefined]>([
  [
    "record_not_found",
    "give its number, or `latest`; see `agent-33 decision log`",
    "give its number, or `latest`",
  ],
  ["input_invalid", "give it with --params; the context holds `session`", "the context holds `session`"],
  [
    "definition_not_found",
    "run `agent-33 decision list` to see what is defined",
    "`GET /decisions` lists all decisions",
  ],
  [
    "request_timeout",
    "check the endpoint with `agent-33 decision endpoints --check`",
    "try again later; the operator of the server can check the endpoint",
  ],
  ["usage", "see --help", undefined],
  ["usage", "`a--b` and 1 -- 2 are no flags", "`a--b` and 1 -- 2 are no flags"],
])("removes commands from hints: %s, %s", (code, hint, expected) => {
  expect(visibleError(new DecisionError(code, "no", { hint }), "http").hint).toBe(expected);
});

it("replaces errors that only the operator can fix", () => {
  const error = new DecisionError("not_approved", "there is no `secret/decisions.lock`", {
    hint: "in secret/",
  });
  const expected = visibleError(error, "http");
  expect(expected.code).toBe("not_approved");
  expect(`${expected.message} ${expected.hint ?? ""}`).not.toContain("secret");
});
