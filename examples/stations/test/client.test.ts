/** The client that Prisma has generated. */
import { assert, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { Prisma } from "../generated/client.ts"

it("is generated from the schema, by the installed version", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  const generated = await read("../generated/internal/class.ts")
  const inline = /"inlineSchema": (".*"),$/m.exec(generated)?.[1] ?? "null"
  assert.strictEqual(JSON.parse(inline), await read("../prisma/schema.prisma"))
  const { dependencies } = JSON.parse(await read("../package.json"))
  assert.strictEqual(Prisma.prismaVersion.client, dependencies["@prisma/client"])
})
