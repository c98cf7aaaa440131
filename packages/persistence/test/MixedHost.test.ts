/** Decided by the compiler: `tsc -b` checks the expectations on types, running them only shows their names. */
import { expectTypeOf, it } from "@effect/vitest"
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import * as UnitOfWork from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"

/** The unmet requirements of a layer. A host runs only if there are none. */
type Missing<Host extends Layer.Any> = Layer.Services<Host>

it("a host with memory stores only compiles", () => {
  const host = Cells.layerMemory.pipe(Layer.provideMerge(UnitOfWork.layerMemory))
  expectTypeOf<Missing<typeof host>>().toBeNever()
})

it("a host with SQL stores only requires a database", () => {
  const host = Cells.layerSql.pipe(Layer.provideMerge(UnitOfWork.layerSql))
  expectTypeOf<Missing<typeof host>>().toEqualTypeOf<SqlClient.SqlClient>()
})

it("a host that mixes memory and SQL stores does not compile", () => {
  const host = Cells.layerMemory.pipe(Layer.provideMerge(UnitOfWork.layerSql))
  expectTypeOf<Missing<typeof host>>().toEqualTypeOf<SqlClient.SqlClient | UnitOfWork.MemoryBackend>()
  expectTypeOf<UnitOfWork.MemoryBackend>().not.toExtend<Layer.Success<typeof UnitOfWork.layerSql>>()
})
