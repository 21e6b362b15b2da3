import { beforeAll, describe, expect, it } from "vitest";
import { openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";
import type { ServedWorld } from "../../../src/serve/question.js";
import { sampleWorld } from "../asking.js";
import type { TokenWorld } from "../auth/token-world.js";
import { keyFile, keySet, optionsOf, tokenOf, tokenWorld } from "../auth/token-world.js";
import type { Answered, Serving } from "./serving.js";
import { post, serving } from "./serving.js";

let world: ServedWorld;
let tokens: TokenWorld;
let server: Serving;

beforeAll(async () => {
  [world, tokens] = await Promise.all([sampleWorld(), tokenWorld()]);
  const authenticate = await openAuthenticator(optionsOf(tokens, keyFile(keySet(tokens))));
  server = await serving({ world, authenticate });
});

/** Whoever has a token for the organisation; without one, for all. */
const by = (org?: string): { readonly authorization: string } => ({
  authorization: `Bearer ${tokenOf(tokens, { claims: org === undefined ? {} : { org_id: org } })}`,
});

const metric = "policy-select-metric";

const asked = (segment: string): object => ({
  tool: "select_metric",
  params: { name: "revenue_retention" },
  session: { query: { audience: "ceo", segment } },
});

const evaluated = async (segment: string, org?: string): Promise<Answered["body"]> =>
  (await post(server, `/decisions/${metric}/evaluate`, { context: asked(segment) }, by(org))).body;

interface Cited {
  readonly precedents: readonly { readonly record_id: string }[];
}

const idsIn = ({ precedents }: Cited): readonly string[] => precedents.map((each) => each.record_id);

describe("precedents for a token of one organisation", () => {
  const compared = async (body: object, org?: string): Promise<readonly string[]> =>
    idsIn((await post(server, "/precedents", body, by(org))).body as unknown as Cited);

  it("are those that it may see, however many of others there are", async () => {
    const ids: Record<string, string[]> = { acme: [], globex: [] };
    for (const org of ["globex", "globex", ...Array<string>(8).fill("acme")])
      ids[org]?.push(String((await evaluated("found", org))["record_id"]));
    const [first, second] = ids["globex"] ?? [];
    const question = { decision_id: metric, context: asked("found") };
    expect(await compared(question, "globex")).toEqual([second, first]);
    expect(await compared({ ...question, limit: 1 }, "globex")).toEqual([second]);
    expect(await compared({ record_id: second }, "globex")).toEqual([first]);
    expect(await compared(question, "acme")).toEqual(ids["acme"]?.slice(-5).reverse());
    expect(await compared(question, "umbrella")).toEqual([]);
    expect(await compared({ ...question, limit: 100 })).toHaveLength(10);
  });
});
