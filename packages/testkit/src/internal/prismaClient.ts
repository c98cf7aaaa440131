/** A client of Prisma without models, as `prisma generate` writes it. Its command line is not needed. */
import { PrismaPg } from "@prisma/adapter-pg"
import { getPrismaClient } from "@prisma/client/runtime/client"

/** The used part of a client. */
export interface Client {
  $queryRawUnsafe(text: string, ...values: Array<unknown>): PromiseLike<unknown>
  $executeRawUnsafe(text: string, ...values: Array<unknown>): PromiseLike<number>
  $transaction<A>(
    body: (tx: Client) => Promise<A>,
    options?: { readonly timeout: number; readonly maxWait: number }
  ): Promise<A>
  $disconnect(): Promise<void>
}

/** Makes a client of a database, over `pg`. */
export const make = (connectionString: string): Client => {
  const client: Client = new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 10 }) })
  return client
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Not a part of the types of Node. */
declare const WebAssembly: { readonly Module: new(bytes: Uint8Array) => object }

/** The query compiler, whose modules have no types. */
const compiler = "@prisma/client/runtime/query_compiler_small_bg.postgresql"

const PrismaClient = getPrismaClient({
  previewFeatures: [],
  clientVersion: "7.10.0",
  engineVersion: "0edf323efd1d98336f3f0a68684b56f689b900d3",
  activeProvider: "postgresql",
  inlineSchema: "datasource db {\n  provider = \"postgresql\"\n}\n",
  runtimeDataModel: { models: {}, enums: {}, types: {} },
  // The encoding of a graph without nodes.
  parameterizationSchema: { strings: [], graph: "AAAAAAAAAAAAAAAAAAAAAA" },
  compilerWasm: {
    getRuntime: () => import(`${compiler}.mjs`),
    getQueryCompilerWasmModule: async () => {
      const { wasm } = await import(`${compiler}.wasm-base64.mjs`) as { readonly wasm: string }
      return new WebAssembly.Module(Buffer.from(wasm, "base64"))
    },
    importName: "./query_compiler_small_bg.js"
  }
})
