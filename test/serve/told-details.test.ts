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
  expect(toldError(new DecisionError("definition_invalid", "no", { details })).details).toBeUndefined();
});
