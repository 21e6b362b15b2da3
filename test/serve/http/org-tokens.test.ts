import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import { alice, sampleWorld } from "../sample-world.js";
import type { TokenWorld } from "../auth/token-world.js";
import { keyFile, keySet, optionsOf, tokenOf, tokenWorld } from "../auth/token-world.js";
import { connectHttp, anonymous, optionsOf as mcpOptionsOf, serveHttp } from "../mcp/serving.js";
import type { Answered, Serving } from "./serving.js";
import { get, post, routineWire, serving } from "./serving.js";

let world: ServedWorld;
let tokens: TokenWorld;
let server: Serving;

async function open(): Promise<void> {
  [world, tokens] = await Promise.all([sampleWorld(), tokenWorld()]);
  const authenticate = await openAuthenticator(optionsOf(tokens, keyFile(keySet(tokens))));
  server = await serving({ world, authenticate });
}

beforeAll(open);

/** A caller bound to the organisation; without one, to none. */
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

describe("precedents for a token bound to an organisation", () => {
  const compared = async (body: object, org?: string): Promise<readonly string[]> =>
    idsIn((await post(server, "/precedents", body, by(org))).body as unknown as Cited);

  it("are those it may see, however many others exist", async () => {
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

describe("the answers to a token bound to an organisation", () => {
  const lineageOf = (body: object): readonly string[] => idsIn((body as { readonly lineage: Cited }).lineage);

  const seen = async (path: string, org?: string): Promise<Answered["body"]> =>
    (await get(server, path, by(org))).body;

  it("name no precedents of other organisations", async () => {
    const foreign = String((await evaluated("told", "acme"))["record_id"]);
    const open = String((await evaluated("told"))["record_id"]);
    const own = await evaluated("told", "globex");
    expect(lineageOf(own)).toEqual([open]);
    const path = `/records/${String(own["record_id"])}`;
    const listed = await seen("/records?limit=1", "globex");
    const [newest] = listed["records"] as readonly object[];
    const shown = [await seen(path, "globex"), await seen(`${path}/explain`, "globex"), newest ?? {}];
    expect(shown.map(lineageOf)).toEqual([[open], [open], [open]]);
    expect(lineageOf(await seen(path))).toEqual([open]);
    expect(lineageOf(await seen(`/records/${open}`))).toEqual([foreign]);
    expect(lineageOf(await seen(`/records/${open}`, "globex"))).toEqual([]);
    expect(lineageOf(await evaluated("told", "acme"))).toEqual([open, foreign]);
  });

  it("name none in the answer to a check or a dry run", async () => {
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
});

describe("a record reference of a token bound to an organisation", () => {
  // Records made shortly before have the same prefix.
  beforeEach(open);

  const wire = async (): Promise<string> =>
    String((await post(server, "/decide", routineWire, by("acme"))).body["record_id"]);

  /** The common prefix of the ids. */
  const commonOf = (...[first = "", ...others]: readonly string[]): string => {
    let length = first.length;
    while (!others.every((id) => id.startsWith(first.slice(0, length)))) length--;
    return first.slice(0, length);
  };

  it("does not list records of other organisations as candidates", async () => {
    const ids = [await wire(), await wire()];
    const common = commonOf(...ids);
    const asked = [
      (org?: string) => get(server, `/records/${common}`, by(org)),
      (org?: string) => get(server, `/records/${common}/explain`, by(org)),
      (org?: string) => post(server, "/precedents", { record_id: common }, by(org)),
    ];
    for (const ask of asked) {
      const { status, body } = await ask("hooli");
      expect([status, body["detail"]]).toEqual([404, `record \`${common}\` not found`]);
      expect(body["errors"]).toBeUndefined();
      expect((await ask("acme")).body["errors"]).toEqual(ids.toReversed());
      expect((await ask()).body["errors"]).toEqual(ids.toReversed());
    }
  });

  it("does not reveal the number of all records", async () => {
    const hintOf = async (org?: string): Promise<unknown> =>
      (await get(server, "/records/99999", by(org))).body["hint"];
    await wire();
    expect(await hintOf()).toBe("the last record has number 1");
    expect(await hintOf("hooli")).toMatch(/^use a record's id, a prefix of it, its number/);
  });

  it("does not reveal them as MCP resources", async () => {
    const ids = [await wire(), await wire()];
    const { url } = await serveHttp(mcpOptionsOf({ world: () => world }), {
      by: { ...anonymous, caller: { ...alice, org_id: "hooli" } },
    });
    const client = await connectHttp(url);
    const common = commonOf(...ids);
    const reading = client.readResource({ uri: `agent33://records/${common}` });
    await expect(reading).rejects.toMatchObject({
      message: expect.stringMatching(`^record \`${common}\` not found`) as string,
    });
  });
});

it("`GET /records` finds the decisions of a caller", async () => {
  await evaluated("of-a-caller");
  const found = async (caller: string): Promise<number> => {
    const { body } = await get(server, `/records?caller=${caller}&limit=1`, by());
    return (body as unknown as { records: readonly object[] }).records.length;
  };
  expect([await found("user-1"), await found("nobody")]).toEqual([1, 0]);
});
