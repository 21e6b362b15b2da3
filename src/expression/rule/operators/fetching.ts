import type { FetchCondition } from "../../../model/endpoint.js";
import type { Json } from "../../../model/json.js";
import { isObject } from "../../equal.js";
import { Failure } from "../../failure.js";
import { fetchKey } from "../fetch-key.js";
import type { RuleOperator } from "../operator-entry.js";
import { ruleOperator } from "../operator-entry.js";
import { mustBe, written } from "../wording.js";

/** What was fetched is among the facts by then; the operator only looks whether it came. */
export const fetchingOperators: readonly RuleOperator[] = [
  ruleOperator({
    name: "fetch_from_api",
    summary:
      "the endpoint gave data; params may be templates, and `mapping` puts parts of the data into the context",
    takes: "{ endpoint, params, mapping }, the last two when wanted",
    asksAnyway: true,
    example: {
      condition: {
        field: "customer",
        op: "fetch_from_api",
        value: { endpoint: "credit_bureau", params: { ssn: "{{ customer.ssn }}" } },
      },
      context: { customer: { ssn: "123-45-6789" } },
      answer: false,
    },
    inWords(field, value) {
      const endpoint = own(value, "endpoint");
      return typeof endpoint === "string" ? `${endpoint} gave data for ${field}` : undefined;
    },
    parse,
    test: (fetch) => {
      const key = fetchKey(fetch);
      return (_actual, { facts }) => own(own(own(facts, "fetched"), key), "ok") === true;
    },
    readsBeside: (fetch) => [`facts.fetched.${fetchKey(fetch)}.ok`],
  }),
];

const own = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

const known = ["endpoint", "params", "mapping"];

function parse(value: Json): FetchCondition | Failure {
  if (!isObject(value)) return mustBe("a map with `endpoint`", value);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) return mustBe(`a map of ${known.join(", ")}, without \`${unknown}\``, value);
  const { endpoint, params, mapping } = value;
  if (typeof endpoint !== "string" || endpoint === "") {
    return new Failure(`\`endpoint\` must name one (got ${written(endpoint)})`);
  }
  if (params !== undefined && !isObject(params)) {
    return new Failure(`\`params\` must be a map (got ${written(params)})`);
  }
  if (mapping !== undefined && !isMapping(mapping)) {
    return new Failure(
      `\`mapping\` must be a map of fields of the answer to fields of the context (got ${written(mapping)})`,
    );
  }
  return { endpoint, ...(params && { params }), ...(mapping && { mapping }) };
}

const isMapping = (value: Json): value is Readonly<Record<string, string>> =>
  isObject(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((each) => typeof each === "string" && each !== "");
