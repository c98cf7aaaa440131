import { assert, it } from "@effect/vitest"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isBuilt } from "../src/internal/pageDirectories.ts"

it("a console is built if its directory has the page", async () => {
  const directory = await mkdtemp(join(tmpdir(), "kinora-console-"))
  try {
    const web = join(directory, "web")
    assert.isFalse(isBuilt(undefined))
    assert.isFalse(isBuilt(web))
    await mkdir(web)
    assert.isFalse(isBuilt(web))
    await writeFile(join(web, "index.html"), "<!doctype html>")
    assert.isTrue(isBuilt(web))
  } finally {
    await rm(directory, { recursive: true })
  }
})
