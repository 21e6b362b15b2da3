import type {
  Case,
  Definition,
  FieldCondition,
  HitPolicy,
  RoutingDefinition,
  RuleCondition,
  ScoredRule,
} from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import { Random } from "../hostile/fuzz/random.js";

/** The values of one path that the conditions below can tell apart, and a missing one. */
const values: readonly (Json | undefined)[] = [
  ...[undefined, null, false, true, -1, 0, 0.5, 1, 1.5, 2, 3],
  ...["", "A", "a", "aa", "b", "c", [], [1]],
];

/** The values of `o` and of `o.k` together. */
const nested: readonly (Json | undefined)[] = [
  ...values,
  ...[{}, { z: 1 }],
  ...values.filter((value) => value !== undefined).map((k) => ({ k })),
];

const domains: Readonly<Record<string, readonly (Json | undefined)[]>> = { x: values, y: values, o: nested };

/** A random definition, with every context that its conditions can tell apart. */
export interface RandomCase {
  readonly definition: RoutingDefinition;
  readonly contexts: readonly JsonObject[];
}

export function randomCase(seed: number): RandomCase {
  const world = new World(seed);
  return { definition: randomDefinition(world), contexts: contextsOf(world.roots) };
}

/** What the conditions of a case may read. Few read `context`, because such cases have many more contexts. */
class World extends Random {
  readonly roots = this.pick([["x"], ["x", "y"], ["x", "o"], ["y", "o"]]);
  readonly readsContext = this.below(10) === 0;
}

/** Two definitions of which the second is the first one with a few changes, or another one. */
export function randomPair(seed: number): RandomCase & { readonly other: RoutingDefinition } {
  const world = new World(seed);
  const { roots } = world;
  const definition = randomDefinition(world);
  const other = world.below(4) === 0 ? randomDefinition(world) : changed(definition, world);
  const contexts = contextsOf(roots);
  const readsContext = /\bcontext\b/.test(JSON.stringify([definition, other]));
  return {
    definition,
    other,
    contexts: readsContext ? [...contexts, ...withContextKey(contexts, roots)] : contexts,
  };
}

/** Two decisions of another type, whose answers depend on more than the first match. */
export interface RandomOtherPair {
  readonly definition: Definition;
  readonly other: Definition;
  readonly contexts: readonly JsonObject[];
}

export function randomOtherPair(seed: number): RandomOtherPair {
  const world = new World(seed);
  const condition = (): string =>
    randomCondition(world, pathsOf({ roots: world.roots, readsContext: false }, {}), 1);
  const kind = world.pick(["gate", "scored", "policy", "collect"] as const);
  const definition = randomOther(kind, world, condition);
  const other =
    world.below(5) === 0 ? randomOther(kind, world, condition) : withChange(definition, world, condition);
  return { definition, other, contexts: contextsOf(world.roots) };
}

function randomOther(
  kind: "gate" | "scored" | "policy" | "collect",
  random: World,
  condition: () => string,
): Definition {
  const each = <T>(create: (index: number) => T): readonly T[] =>
    Array.from({ length: 1 + random.below(3) }, (_, index) => create(index));
  const [root = "x"] = random.roots;
  switch (kind) {
    case "gate":
      return {
        id: "random",
        type: "gate",
        action: { org: "o", domain: "d", name: "n" },
        computed: { large: random.pick([`${root} > 1`, root, `not exists(${root})`]) },
        rules: each((index) => ({
          id: `rule-${index}`,
          tier: "T2",
          severity: random.below(3),
          when: random.below(4) === 0 ? "large" : condition(),
          ...(random.below(3) === 0 && { applies_when: condition() }),
          status: random.pick(["GREEN", "GREEN-SKIP", "YELLOW", "RED"]),
          ...(random.below(3) === 0 && { suppresses: [`rule-${(index + 1) % 3}`] }),
        })),
      };
    case "scored":
      return {
        id: "random",
        type: "scored",
        scoring: random.pick([{ strategy: "max_weight" }, { strategy: "weighted_average" }]),
        evaluators: [
          ...each((index) => ({
            name: `e${index}`,
            rules: each((at) => scoredRule(random, `r${at}`, condition)),
          })),
          { name: "house", static: { decision: "hold", weight: 0.1 } },
        ],
      };
    case "policy":
      return {
        id: "random",
        type: "policy",
        tool: "t",
        policies: [
          ...each((index) => ({
            name: `p${index}`,
            conditions: each((at) => ({ name: `c${at}`, expression: condition() })),
          })),
          {
            name: "over",
            overrides: ["p0"],
            when: condition(),
            action: "modify_params",
            params: { safe: true },
          },
        ],
      };
    case "collect":
      return {
        id: "random",
        type: "rule_table",
        hit_policy: random.pick(["collect", "rule_order"]),
        rules: each((index) => ({ condition: condition(), label: `l${index}`, output: index })),
        default: { output: 9 },
        ...(random.below(2) === 0 && { aggregate: random.pick(["sum", "min", "max", "count"]) }),
      };
  }
}

const ruleConditions: readonly [FieldCondition, ...FieldCondition[]] = [
  { field: "x", op: "gte", value: 1 },
  { field: "x", op: "lt", value: 2 },
  { field: "x", op: "neq", value: "a" },
  { field: "x", op: "not_in", value: [0, "b"] },
  { field: "x", op: "between", value: [0, 1] },
  { field: "x", op: "present" },
  { field: "x", op: "blank" },
  { field: "x", op: "starts_with", value: "a" },
  { field: "x", op: "eq", value: null },
];

function scoredRule(random: World, id: string, condition: () => string): ScoredRule {
  const [root = "x"] = random.roots;
  const field = (): RuleCondition => ({ ...random.pick(ruleConditions), field: root });
  const groups: readonly [RuleCondition, ...RuleCondition[]] = [
    field(),
    { all: [field(), field()] },
    { any: [field(), field()] },
    { none: [field()] },
  ];
  const then = { decision: random.pick(["yes", "no", "hold"]), weight: random.pick([0.3, 0.5, 0.9]) };
  return random.below(2) === 0 ? { id, if: random.pick(groups), then } : { id, when: condition(), then };
}

/** Changes one text somewhere in the definition: a condition, a status, a decision or an operator. */
function withChange(definition: Definition, random: World, condition: () => string): Definition {
  let count = 0;
  const visit = (value: Json, change: number, key = ""): Json => {
    if (
      typeof value === "string" &&
      ["condition", "when", "expression", "applies_when", "status", "decision"].includes(key)
    ) {
      if (count++ !== change) return value;
      if (key === "status") return random.pick(["GREEN", "RED", "YELLOW"]);
      if (key === "decision") return random.pick(["yes", "no"]);
      return random.pick([
        condition(),
        `not not (${value})`,
        value.replace("<=", "<"),
        value.replace("and", "or"),
      ]);
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((each: Json) => visit(each, change));
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, visit(each, change, name)]));
  };
  visit(definition as unknown as Json, -1);
  const chosen = random.below(Math.max(1, count));
  count = 0;
  return visit(definition as unknown as Json, chosen) as unknown as Definition;
}

/** The same contexts with a key `context`, which shadows the whole context. */
function withContextKey(contexts: readonly JsonObject[], roots: readonly string[]): readonly JsonObject[] {
  const shadows: readonly Json[] = [
    1,
    ...contextsOf([roots[0] ?? "x"]),
    ...contextsOf([roots.at(-1) ?? "x"]),
  ];
  return contexts.flatMap((each) => shadows.map((context) => ({ ...each, context })));
}

export function contextsOf(roots: readonly string[]): readonly JsonObject[] {
  return roots.reduce<readonly JsonObject[]>(
    (contexts, root) =>
      contexts.flatMap((context) =>
        (domains[root] ?? []).map((value) => (value === undefined ? context : { ...context, [root]: value })),
      ),
    [{}],
  );
}

const policies: readonly [HitPolicy, ...HitPolicy[]] = [
  ...(["first", "first", "priority", "unique", "any", "collect"] as const),
];

function randomDefinition(random: World): RoutingDefinition {
  const { roots, readsContext } = random;
  const type = random.pick(["switch", "rule_table", "rule_table"] as const);
  const [root = "x"] = roots.toReversed();
  const inputs = root === "o" ? ["{{ o }}", "o.k"] : [root, `{{ ${root} }}`];
  if (readsContext) inputs.push(`{{ context.${root} }}`);
  const input = random.below(4) === 0 ? { input: random.pick(inputs as [string, ...string[]]) } : {};
  const cases = Array.from({ length: 1 + random.below(5) }, (_, index) => randomRule(random, index, input));
  const common = {
    id: "random",
    default: { target: "stage-default" },
    ...input,
    ...(random.below(6) === 0 && { on_error: "fail" as const }),
  };
  return type === "switch"
    ? {
        ...common,
        type,
        cases: cases.map(({ condition = "", label = "", target = "" }) => ({ condition, label, target })),
      }
    : { ...common, type, hit_policy: random.pick(policies), rules: cases };
}

function randomRule(random: World, index: number, input: { input?: string }): Case {
  return {
    condition: randomCondition(random, pathsOf(random, input), 2),
    label: `rule ${index + 1}`,
    target: random.pick(["stage-a", "stage-b"]),
    priority: random.below(2),
  };
}

function pathsOf(
  { roots, readsContext }: Pick<World, "roots" | "readsContext">,
  { input }: { input?: string },
): readonly [string, ...string[]] {
  const paths = roots.flatMap((root) => (root === "o" ? ["o", "o.k", "o.k"] : [root, root]));
  const isObject = input !== undefined && /o\W*$/.test(input);
  const ofContext = readsContext ? [`context.${roots[0] ?? "x"}`] : [];
  const ofInput =
    input === undefined ? [`input.${roots[0] ?? "x"}`] : isObject ? ["input", "input.k"] : ["input"];
  return [paths[0] ?? "x", ...paths, ...ofInput, ...ofContext];
}

const literal = (random: Random): string => random.pick(["0", "1", "2", "'a'", "'b'", "''", "true", "null"]);
const ordered = (random: Random): string => random.pick(["0", "1", "2", "1", "2", "'a'", "'b'"]);

function randomCondition(random: Random, paths: readonly [string, ...string[]], depth: number): string {
  const inner = (): string => randomCondition(random, paths, depth - 1);
  if (depth > 0 && random.below(3) > 0) {
    switch (random.below(6)) {
      case 0:
      case 1:
      case 2:
        return `(${inner()} and ${inner()})`;
      case 3:
        return `(${inner()} or ${inner()})`;
      case 4:
        return `not ${inner()}`;
      default:
        return `(if ${inner()} then ${inner()} else ${inner()})`;
    }
  }
  const path = random.pick(paths);
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
      return `${path} ${random.pick(["<", "<=", ">", ">="])} ${ordered(random)}`;
    case 3:
      return `${path} == ${literal(random)}`;
    case 4:
      return `${literal(random)} != ${path}`;
    case 5:
      return `${path} ${random.pick(["in", "not in"])} (${literal(random)}, ${literal(random)})`;
    case 6:
      return `${ordered(random)} ${random.pick(["<", "<="])} ${path} ${random.pick(["<", "<="])} ${ordered(random)}`;
    case 7:
      return `between(${path}, ${ordered(random)}, ${ordered(random)})`;
    case 8:
      return `exists(${path})`;
    case 9:
      if (!paths.includes("o")) return `empty(${path})`;
      return random.pick([
        `empty(${path})`,
        `starts_with(${path}, 'a')`,
        `get(o, 'k', 1) == ${literal(random)}`,
      ]);
    case 10:
      return path;
    default:
      return random.pick(["true", "false", `${path} == ${literal(random)}`]);
  }
}

/** Changes a condition, an answer, the order or the number of rules. */
function changed(definition: RoutingDefinition, random: World): RoutingDefinition {
  const rules = [...((definition.type === "rule_table" ? definition.rules : definition.cases) ?? [])];
  const at = random.below(rules.length);
  const [rule] = rules.splice(at, 1);
  const paths = pathsOf(random, definition);
  if (rule !== undefined) {
    switch (random.below(6)) {
      case 0:
        break;
      case 1:
        rules.splice(random.below(rules.length + 1), 0, rule);
        break;
      case 2:
        rules.splice(at, 0, { ...rule, condition: randomCondition(random, paths, 2) });
        break;
      case 3:
        rules.splice(at, 0, { ...rule, condition: `not not (${rule.condition ?? ""})` });
        break;
      case 4:
        rules.splice(at, 0, {
          ...rule,
          condition: (rule.condition ?? "").replace("<=", "<").replace("and", "or"),
        });
        break;
      default:
        rules.splice(at, 0, { ...rule, target: "stage-c" });
    }
  }
  if (rules.length === 0 && rule !== undefined) rules.push(rule);
  return definition.type === "rule_table" ? { ...definition, rules } : { ...definition, cases: rules };
}
