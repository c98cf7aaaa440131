/**
 * The peer of the download benchmarks: Fastify and `@fastify/send` over a directory. It
 * checks neither keys nor signatures, has no jobs and counts no bytes, so its figures are
 * an upper bound.
 *
 * `node fastifyFiles.ts <directory>` prints `{"base_url": …}` when it is ready.
 */
import send from "@fastify/send"
import fastify from "fastify"

const root = process.argv[2] ?? "."
const server = fastify()

server.get<{ Params: { readonly name: string } }>("/:name", async ({ params, raw }, reply) => {
  const { headers, statusCode, stream } = await send(raw, encodeURIComponent(params.name), { root })
  return reply.code(statusCode).headers(headers).send(stream)
})

process.once("SIGTERM", () => void server.close())
process.stdout.write(`${JSON.stringify({ base_url: await server.listen({ host: "127.0.0.1", port: 0 }) })}\n`)
