/** The peers of the HTTP benchmarks, in the order of the report. */
import { lean } from "./Lean.ts"
import type { Peer } from "./Peer.ts"
import { textbook } from "./Textbook.ts"
import { tuned } from "./Tuned.ts"

/** All peers. */
export const peers: ReadonlyArray<Peer> = [textbook, tuned, lean]
