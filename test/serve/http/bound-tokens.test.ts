import { beforeAll, describe, expect, it } from "vitest";
import { openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";
import type { ServedWorld } from "../../../src/serve/question.js";
import { sampleWorld } from "../asking.js";
import type { TokenWorld } from "../auth/token-world.js";
import { keyFile, keySet, optionsOf, tokenOf, tokenWorld } from "../auth/token-world.js";
import type { Answered, Serving } from "./serving.js";
import { get, post, serving } from "./serving.js";

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

describe("what a token of one organisation is told", () => {
  const lineageOf = (body: object): readonly string[] => idsIn((body as { readonly lineage: Cited }).lineage);

  const seen = async (path: string, org?: string): Promise<Answered["body"]> =>
    (await get(server, path, by(org))).body;

  it("names no precedents of another, though they are recorded", async () => {
    const foreign = String((await evaluated("told", "acme"))["record_id"]);
    const open = String((await evaluated("told"))["record_id"]);
    const own = await evaluated("told", "globex");
    expect(lineageOf(own)).toEqual([open]);
    const path = `/records/${String(own["record_id"])}`;
    const listed = await seen("/records?limit=1", "globex");
    const [newest] = listed["records"] as readonly object[];
    const told = [await seen(path, "globex"), await seen(`${path}/explain`, "globex"), newest ?? {}];
    expect(told.map(lineageOf)).toEqual([[open], [open], [open]]);
    expect(lineageOf(await seen(path))).toEqual([open, foreign]);
    expect(lineageOf(await evaluated("told", "acme"))).toEqual([open, foreign]);
  });

  it("names none in the answer to a check, nor where nothing is recorded", async () => {
    const foreign = (await evaluated("checked", "acme"))["record_id"];
    const { session, ...call } = asked("checked") as { readonly session: object };
    const check = { ...call, context: { session } };
    const checked = async (org: string, more: object = {}): Promise<readonly string[]> => {
      const body = { ...check, session_id: `checked-${org}`, ...more };
      const answer = await post(server, "/check", body, by(org));
      return (answer.body["decisions"] as readonly object[]).flatMap(lineageOf);
    };
    expect(await checked("acme", { dry_run: true })).toEqual([foreign]);
    expect(await checked("globex", { dry_run: true })).toEqual([]);
    expect(await checked("globex")).toEqual([]);
  });

  it("does not name the record of another whose answer was cached", async () => {
    const roll = async (org: string): Promise<string> => {
      const path = "/decisions/decision-ab-prompt-variant/evaluate";
      const answer = await post(server, path, { context: { request: { id: "shared" } } }, by(org));
      return `/records/${String(answer.body["record_id"])}`;
    };
    const first = await roll("acme");
    const own = await roll("acme");
    const foreign = await roll("globex");
    const origin = first.replace("/records/", "");
    expect(await seen(own, "acme")).toMatchObject({ cached: true, cached_from: origin });
    expect(await seen(foreign)).toMatchObject({ cached: true, cached_from: origin });
    for (const path of [foreign, `${foreign}/explain`]) {
      const told = await seen(path, "globex");
      expect(told).toMatchObject({ cached: true });
      expect(JSON.stringify(told)).not.toContain(origin);
    }
  });
});
