/** The number of processes, from the settings. */
import { Effect } from "effect"
import { type Values, variableOf } from "./definitions.ts"
import { invalid, type InvalidSettings } from "./problems.ts"

/** Returns the number of processes. Fails if several of them could not share the database or a port. */
export const processesOf = (
  { admin_host: adminHost = "127.0.0.1", admin_port: adminPort = 4748, database_url: url, host, port, processes }:
    Values
): Effect.Effect<number, InvalidSettings> => {
  if (processes === 1) return Effect.succeed(processes)
  if (url === undefined) {
    return Effect.fail(
      invalid(
        variableOf("processes"),
        `needs ${variableOf("database_url")}: one process at a time can open the embedded database`
      )
    )
  }
  if (adminPort === "off" || adminPort === 0) return Effect.succeed(processes)
  const last = adminPort + processes - 1
  if (last > 65_535) {
    return Effect.fail(
      invalid(variableOf("admin_port"), `must be at most ${65_536 - processes}: each process listens on the next port`)
    )
  }
  return adminHost === host && adminPort <= port && port <= last
    ? Effect.fail(
      invalid(
        variableOf("admin_port"),
        `must leave out ${variableOf("port")}: the processes listen on the ports ${adminPort} to ${last} for operators`
      )
    )
    : Effect.succeed(processes)
}
