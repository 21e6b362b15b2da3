import type { Json } from "../../../model/json.js";
import { isList } from "../../equal.js";
import type { Members } from "../membership.js";
import { membersOf } from "../membership.js";
import type { RuleOperator } from "../operator-entry.js";
import { ruleOperator } from "../operator-entry.js";
import { list } from "../parse-value.js";
import { needs } from "../wording.js";

type Compare = (actual: readonly Json[], members: Members) => boolean;

const shares: Compare = (actual, members) => actual.some(members.has);

export const listOperators: readonly RuleOperator[] = [
  comparing("contains_all", "the list has every one of the items", false, (actual, members) =>
    members.allIn(actual),
  ),
  comparing("contains_any", "the list has at least one of the items", true, shares),
  comparing("intersects", "the two lists, taken as sets, share at least one item", true, shares),
  comparing("subset_of", "every item of the list is one of these", false, (actual, members) =>
    actual.every(members.has),
  ),
];

function comparing(name: string, summary: string, answer: boolean, holds: Compare): RuleOperator {
  return ruleOperator({
    name,
    summary,
    takes: "a list",
    example: {
      condition: { field: "tags", op: name, value: ["vip", "staff"] },
      context: { tags: ["vip", "eu"] },
      answer,
    },
    parse: list,
    test: (items) => {
      const members = membersOf(items);
      return (actual) => (isList(actual) ? holds(actual, members) : needs(name, "a list", actual));
    },
  });
}
