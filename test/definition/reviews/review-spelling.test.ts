import { describe, expect, it } from "vitest";
import { reviewSpelling } from "../../../src/definition/reviews/review-spelling.js";
import type { Definition } from "../../../src/model/definition.js";

const withConditions = (...conditions: readonly string[]): Definition => ({
  id: "orders",
  type: "switch",
  cases: conditions.map((condition) => ({ condition, target: "t" })),
  default: { target: "z" },
});

const messages = (definition: Definition): readonly string[] =>
  reviewSpelling(definition).map(({ message }) => message);

describe("a probable mistake in an expression", () => {
  it.each([
    ["order.status == shipped", "`shipped` without quotes is a field of the context, not a text"],
    ["order.status != shipped", "`shipped` without quotes is a field of the context, not a text"],
    ["shipped == order.status", "`shipped` without quotes is a field of the context, not a text"],
    ["input == shipped", "`shipped` without quotes is a field of the context, not a text"],
    ["order.status in ('lost', sent)", "`sent` without quotes is a field of the context, not a text"],
    ["{{ order.status == shipped }}", "`shipped` without quotes is a field of the context, not a text"],
    ["severity == critical", "`critical` without quotes is a field of the context, not a text"],
    ["context.severity == critical", "`critical` without quotes is a field of the context, not a text"],
    ["severity != critical", "`critical` without quotes is a field of the context, not a text"],
    ["severity in ('low', high)", "`high` without quotes is a field of the context, not a text"],
    ["severity not in (high, 'low')", "`high` without quotes is a field of the context, not a text"],
    ["order.is-vip", "`order.is-vip` subtracts `vip` from `order.is`"],
    ["is-vip == true", "`is-vip` subtracts `vip` from `is`"],
    ["order.status === 'x'", "`===` means the same as `==`"],
    ["order.status !== 'x'", "`!==` means the same as `!=`"],
    ["order.date > 2024-01-01", "`2024-01-01` without quotes is a subtraction, not a date"],
    ["order.paid == True", "`True` is a field of the context, not the constant `true`"],
    ["order.coupon != None", "`None` is a field of the context, not the constant `null`"],
    ["FALSE", "`FALSE` is a field of the context, not the constant `false`"],
  ])("is found: %s", (condition, message) => {
    expect(messages(withConditions(condition))).toEqual([message]);
  });

  it.each([
    ["order.total == limit", "limit > 3"],
    ["order.total == limit", "exists(limit)"],
    ["order.total == limit", "limit.daily > 3"],
    ["order.currency == currency"],
    ["old_status == new_status", "createdBy != approvedBy"],
    ["requester != approver", "starts_with(approver, 'bot-')"],
    ["requester != approver", "approver == 'root'"],
    ["requester in (owner, approver)", "owner != null", "length(approver) > 0"],
    ["requester == context.approver", "context.owner != requester"],
    ["order.total == context.limit"],
    ["order.total - order.discount > 5"],
    ["order.total -discount > 5"],
    ["a-abs(b) > 1"],
    ["order.year - 2024 == 1", "5-3 == 2"],
    ["order.status == 'a === b'", "order.date > '2024-01-01'"],
    ["starts_with(order.id, 'x-y')", "order.status == lower('A')"],
    ["params.path == tool", "params.owner == session"],
    ["order.none > 3", "order.kind == 'None'", "order.paid == true"],
  ])("is not found in %s", (...conditions) => {
    expect(messages(withConditions(...conditions))).toEqual([]);
  });

  it("is not found where a gate declares or computes the field", () => {
    const gate = {
      id: "g",
      type: "gate",
      action: { org: "o", domain: "d", name: "n", world_model_version: 1 },
      context_schema: { type: "object", properties: { limit: { type: "number" } } },
      computed: { most: "5" },
      rules: [{ id: "r", tier: "T3", severity: 1, when: "a.b == limit or a.c == most", status: "GREEN" }],
    } as unknown as Definition;
    expect(messages(gate)).toEqual([]);
  });

  it("is not found where the context of a test has the field", () => {
    const definition = withConditions("requester != approver", "status == closed");
    const found = reviewSpelling(definition, ["requester", "approver"]).map(({ message }) => message);
    expect(found).toEqual(["`closed` without quotes is a field of the context, not a text"]);
  });

  it("has its place, and a hint with the fix", () => {
    expect(reviewSpelling(withConditions("  {{ order.is-vip.since }}"))).toMatchObject([
      {
        path: ["cases", 0, "condition"],
        offset: 5,
        severity: "warning",
        hint: "for a key with a dash, write `get(get(order, 'is-vip'), 'since')`; for a subtraction, put spaces around `-`",
      },
    ]);
  });
});
