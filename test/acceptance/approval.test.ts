import { expect, it } from "vitest";
import { ApprovedProject, other, quality } from "../cli/approving.js";

const ask = ["evaluate", "quality", "--input", '{"score": 0.9}', "--format", "target"];

it("an approved definition decides, and one that changed since is refused", async () => {
  const project = await ApprovedProject.make();
  expect(await project.spawn(...ask)).toEqual({ exitCode: 0, stdout: "deploy\n", stderr: "" });
  project.write("quality.yaml", quality("0.1"));
  const { exitCode, stdout, stderr } = await project.spawn(...ask);
  expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" });
  expect(stderr).toMatch(
    /^error: `quality` changed since it was approved with serial [^\n]+\nhint: [^\n]+\n$/,
  );
});

it("eight approvals at once lose nothing", async () => {
  const project = await ApprovedProject.make({ approved: false });
  const ids = Array.from({ length: 8 }, (_, at) => `d-${at}`);
  for (const id of ids) project.write(`${id}.yaml`, other.replace("id: other", `id: ${id}`));
  const ran = await Promise.all(ids.map((id) => project.spawn("approve", id, "--key", project.key)));
  expect(ran.map(({ exitCode }) => exitCode)).toEqual(ids.map(() => 0));
  const lock = project.readLock();
  expect(lock.entries.map(({ decision_id }) => decision_id)).toEqual(ids);
  expect(lock.entries.map(({ serial }) => serial).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  const asked = await project.run("dry-run", "d-7", "--input", '{"kind": "a"}', "--format", "target");
  expect(asked).toMatchObject({ exitCode: 0, stdout: "one\n" });
});
