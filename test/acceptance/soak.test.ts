import { it } from "vitest";
import { soak } from "../serve/soak.js";
import { expectSoaked } from "../serve/soaking/expect-soaked.js";

it("serves fifty connections through changes, an end and a crash, and keeps what it answered", async () => {
  expectSoaked(await soak({ seconds: 10, connections: 50, pause: 25 }));
}, 120_000);
