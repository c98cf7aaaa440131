/** Responds with a job, by `node:http` alone. `node nodeServer.ts` prints `{"base_url": …}` when it is ready. */
import { createServer } from "node:http"
import { jobOf } from "./job.ts"

const server = createServer((request, response) => {
  const id = request.url?.slice("/v1/generations/".length) ?? ""
  const body = JSON.stringify(jobOf(id))
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body)
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  process.stdout.write(`${JSON.stringify({ base_url: `http://127.0.0.1:${port}` })}\n`)
})
process.once("SIGTERM", () => void server.close())
