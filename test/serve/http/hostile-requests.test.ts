import { beforeAll, describe, expect, it } from "vitest";
import { hostileRequests } from "./hostile-requests.js";
import { rawExchange } from "./raw-exchange.js";
import type { Serving } from "./serving.js";
import { get, post, routineWire, serving } from "./serving.js";

let server: Serving;

beforeAll(async () => {
  server = await serving();
});

describe("a hostile request", () => {
  it("has a unique name", () => {
    expect(new Set(hostileRequests.map(({ name }) => name)).size).toBe(hostileRequests.length);
    expect(hostileRequests.length).toBeGreaterThan(150);
  });

  it.each(hostileRequests)("is rejected with $status: $name", async ({ bytes, status, headers = {} }) => {
    const before = await server.recorded();
    const answers = await rawExchange(server.port, bytes);
    expect(answers.map((each) => each.status)).toEqual([status]);
    const [answer] = answers;
    expect(answer?.headers).toMatchObject(headers);
    if (answer?.body !== "") {
      expect(answer?.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
      const problem = JSON.parse(answer?.body ?? "") as object;
      expect(problem).toMatchObject({ status });
      expect(answer?.body.length).toBeLessThan(8_000);
      expect(answer?.body).not.toMatch(/node_modules|src\/|\.ts:|\/tmp\//);
    }
    expect(await server.recorded()).toBe(before);
    expect((await get(server, "/healthz")).status).toBe(200);
  });

  it("does not affect the server", async () => {
    expect(await post(server, "/decide", routineWire)).toMatchObject({
      status: 200,
      body: { status: "GREEN" },
    });
    expect(({} as Record<string, unknown>)["org_id"]).toBeUndefined();
    expect(await server.logged()).not.toMatch(/"level":"error"/);
  });
});
