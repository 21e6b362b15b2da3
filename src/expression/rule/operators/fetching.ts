import { canonicalJson } from "../../../digest/canonical-json.js";
import { sha256Hex } from "../../../digest/sha256.js";
import type { FetchCondition } from "../../../model/endpoint.js";
import type { Json } from "../../../model/json.js";
import { isObject } from "../../equal.js";
import { Failure } from "../../failure.js";
import type { RuleOperator } from "../rule-operator.js";
import { ruleOperator, invalidValue, describeValue } from "../rule-operator.js";

/** The data is fetched before the evaluation and is part of the facts; the operator tests whether it arrived. */
export const fetchingOperators = (): readonly RuleOperator[] => [
  ruleOperator({
    name: "fetch_from_api",
    summary:
      "the endpoint returned data; `params` can be templates, `mapping` adds fields of the data to the context",
    takes: "{ endpoint, params, mapping }; `params` and `mapping` are optional",
    testsMissing: true,
    example: {
      condition: {
        field: "customer",
        op: "fetch_from_api",
        value: { endpoint: "credit_bureau", params: { ssn: "{{ customer.ssn }}" } },
      },
      context: { customer: { ssn: "123-45-6789" } },
      answer: false,
    },
    describe(field, value) {
      const endpoint = ownValue(value, "endpoint");
      return typeof endpoint === "string" ? `${endpoint} returned data for ${field}` : undefined;
    },
    parse: parseFetch,
    test: (fetch) => {
      const key = fetchKey(fetch);
      return (_actual, { facts }) => ownValue(ownValue(ownValue(facts, "fetched"), key), "ok") === true;
    },
    extraReads: (fetch) => [`facts.fetched.${fetchKey(fetch)}.ok`],
  }),
];

const ownValue = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

const fetchKeys = ["endpoint", "params", "mapping"];

function parseFetch(value: Json): FetchCondition | Failure {
  if (!isObject(value)) return invalidValue("a map with `endpoint`", value);
  const unknown = Object.keys(value).find((key) => !fetchKeys.includes(key));
  if (unknown !== undefined)
    return invalidValue(`a map of ${fetchKeys.join(", ")}, without \`${unknown}\``, value);
  const { endpoint, params, mapping } = value;
  if (typeof endpoint !== "string" || endpoint === "") {
    return new Failure(`\`endpoint\` must be the name of an endpoint (got ${describeValue(endpoint)})`);
  }
  if (params !== undefined && !isObject(params)) {
    return new Failure(`\`params\` must be a map (got ${describeValue(params)})`);
  }
  if (mapping !== undefined && !isMapping(mapping)) {
    return new Failure(
      `\`mapping\` must be a map of fields of the response to fields of the context (got ${describeValue(mapping)})`,
    );
  }
  return { endpoint, ...(params && { params }), ...(mapping && { mapping }) };
}

const isMapping = (value: Json): value is Readonly<Record<string, string>> =>
  isObject(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((each) => typeof each === "string" && each !== "");

/** Returns the key of a fetch in the facts. Fetches that differ in anything have different keys. */
export function fetchKey(fetch: FetchCondition & { readonly into?: string }): string {
  const { endpoint, params = {}, mapping = {}, into = null } = fetch;
  const digest = sha256Hex(canonicalJson({ endpoint, params, mapping: mapping as Json, into }));
  return `${endpoint}:${digest.slice(0, 16)}`;
}
