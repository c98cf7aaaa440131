/** The state that jobs are created and ended on. */
import type * as Books from "@kinora/ledger/Books"
import type * as Decision from "@kinora/persistence/Decision"
import type * as Lanes from "@kinora/scheduler/Lanes"

/** The books and the lanes of a set of jobs, loaded in one unit of work. */
export interface JobState {
  readonly books: Books.Books
  readonly lanes: Lanes.Lanes
}

/** Decision on one job. */
export type JobDecision<A, Refusal> = Decision.Decision<JobState, A, Refusal>
