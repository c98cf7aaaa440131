/** Responds with a job, by Fastify. `node fastifyServer.ts` prints `{"base_url": …}` when it is ready. */
import fastify from "fastify"
import { jobOf } from "./job.ts"

const server = fastify()
server.get<{ Params: { readonly id: string } }>("/v1/generations/:id", async ({ params }) => jobOf(params.id))

process.once("SIGTERM", () => void server.close())
process.stdout.write(`${JSON.stringify({ base_url: await server.listen({ host: "127.0.0.1", port: 0 }) })}\n`)
