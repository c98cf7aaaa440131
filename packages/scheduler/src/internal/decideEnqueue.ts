/** Decides an enqueue command. Pure. */
import type { Decision } from "@kinora/persistence/Decision"
import * as Lanes from "../Lanes.ts"
import { dueOf } from "./delays.ts"
import type { DuplicateJob, InvalidJobId, InvalidPriority, QueueFull } from "./reasons.ts"
import type { AnyEnqueue, Placed } from "./requests.ts"

/** Enqueues a job, or delays it if the command has a delay. */
export const decideEnqueue = (
  lanes: Lanes.Lanes,
  command: AnyEnqueue
): Decision<Lanes.Lanes, Placed, QueueFull | DuplicateJob | InvalidJobId | InvalidPriority> =>
  dueOf(command) === undefined ? Lanes.enqueue(lanes, command) : Lanes.delay(lanes, command)
