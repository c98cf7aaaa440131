/** A server of Runway's API, and one of its result files on another origin. */
import { Effect } from "effect"
import { json } from "./Listener.ts"
import type { File } from "./Results.ts"
import { changesOf, resultServer, scripted } from "./ScriptedServer.ts"

/** A task. */
interface Task {
  readonly id: string
  readonly status: string
  readonly progress?: number
  readonly failure?: string
  readonly failureCode?: string
  readonly output?: ReadonlyArray<string>
}

/** Starts the servers. */
export const runway = Effect.gen(function*() {
  const tasks = new Map<string, Task>()
  const submitted: Array<{ readonly path: string; readonly body: unknown }> = []
  const content: { file?: File } = {}

  const files = yield* resultServer(content)

  const server = yield* scripted(({ body, headers, method, path }, response) => {
    if (headers["x-runway-version"] !== "2024-11-06") return json(response, 400, { error: "X-Runway-Version" })
    if (method === "POST") {
      submitted.push({ path, body: JSON.parse(String(body)) })
      const id = `task-${submitted.length}`
      tasks.set(id, { id, status: "PENDING" })
      return json(response, 200, { id })
    }
    const id = path.replace("/v1/tasks/", "")
    const task = tasks.get(id)
    if (task === undefined) return json(response, 404, { error: "Not found" })
    if (method === "GET") return json(response, 200, { ...task, createdAt: "2026-01-01T00:00:00Z" })
    tasks.delete(id)
    response.writeHead(204).end()
  })

  return {
    ...server,
    /** The server of results. */
    files,
    /** The file that `files` serves. */
    content,
    tasks,
    /** Submitted tasks, oldest first. */
    submitted,
    /** Changes the only task. */
    change: changesOf(tasks)
  }
})
