/** Decided by the compiler: `tsc -b` checks the expectations on types, running them only shows their names. */
import { expectTypeOf, it } from "@effect/vitest"
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import * as UnitOfWork from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"

/** What a layer still asks for. A host runs only when nothing is left. */
type Missing<Host extends Layer.Any> = Layer.Services<Host>

it("a host that has memory stores only is whole", () => {
  const host = Cells.layerMemory.pipe(Layer.provideMerge(UnitOfWork.layerMemory))
  expectTypeOf<Missing<typeof host>>().toBeNever()
})

it("a host that has SQL stores only asks for a database", () => {
  const host = Cells.layerSql.pipe(Layer.provideMerge(UnitOfWork.layerSql))
  expectTypeOf<Missing<typeof host>>().toEqualTypeOf<SqlClient.SqlClient>()
})

it("a host that mixes memory and SQL stores asks for a memory that no SQL host has, so it does not compile", () => {
  const host = Cells.layerMemory.pipe(Layer.provideMerge(UnitOfWork.layerSql))
  expectTypeOf<Missing<typeof host>>().toEqualTypeOf<SqlClient.SqlClient | UnitOfWork.MemoryBackend>()
  expectTypeOf<UnitOfWork.MemoryBackend>().not.toExtend<Layer.Success<typeof UnitOfWork.layerSql>>()
})
