import { expect, it } from "vitest";
import { DecisionError } from "../../src/errors.js";
import { toldError } from "../../src/serve/told-details.js";

it("tells whoever asks what is wrong with the request, and nothing of our files", () => {
  const errors = [{ path: "context", message: "`context` is missing" }];
  const problems = [{ file: "decisions/secret.yaml", line: 1, column: 1, message: "?" }];
  const error = new DecisionError("input_invalid", "no", { hint: "yes", details: { errors, problems } });
  expect(toldError(error)).toMatchObject({ code: "input_invalid", message: "no", hint: "yes" });
  expect(toldError(error).details).toEqual({ errors });
});

it.each([[undefined], [null], ["text"], [{ problems: [] }]])("has nothing to tell of %j", (details) => {
  expect(toldError(new DecisionError("input_invalid", "no", { details })).details).toBeUndefined();
});

it("tells of what only the operator can mend that it is so, and nothing of where", () => {
  const error = new DecisionError("not_approved", "there is no `secret/decisions.lock`", {
    hint: "in secret/",
  });
  const told = toldError(error);
  expect(told.code).toBe("not_approved");
  expect(`${told.message} ${told.hint ?? ""}`).not.toContain("secret");
});
