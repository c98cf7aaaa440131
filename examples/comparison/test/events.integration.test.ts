/** Runs the same scenarios of webhooks against Kinora, and the client of Svix with a server that has the part of its API. */
import { assert, vi } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as KinoraWebhooks from "../src/kinoraWebhooks.ts"
import type { Parcels, Receive } from "../src/Parcels.ts"
import * as Svix from "../src/svix.ts"
import { compare } from "./compare.ts"
import * as SvixServer from "./svixServer.ts"

/** A program that publishes events. */
interface Shipping {
  readonly program: PgProgram.PgProgram
  readonly parcels: Parcels
  readonly receive: Receive
  /** Runs the transactions of the program, each of which publishes an event of its row, or does so after its commit. */
  readonly ship: (customer: string) => Promise<void>
  /** Returns the number of events that are published and not received. */
  readonly pending: () => Promise<number>
  readonly close: () => Promise<void>
}

const withKinora = async (): Promise<Shipping> => {
  const program = await PgProgram.open()
  const parcels = await KinoraWebhooks.openParcels(program.pool)
  return {
    program,
    parcels,
    receive: KinoraWebhooks.receive,
    ship: (customer) => program.request((id, tx) => parcels.publish({ id, customer }, tx)),
    pending: async () => {
      const { rows } = await program.pool.query("SELECT FROM webhooks_delivery WHERE status = 'pending'")
      return rows.length
    },
    close: async () => {
      await parcels.close()
      await program.close()
    }
  }
}

const withSvix = async (publishes: "in the transaction" | "after the commit"): Promise<Shipping> => {
  const program = await PgProgram.open()
  const scope = Effect.runSync(Scope.make())
  const server = await Effect.runPromise(Scope.provide(SvixServer.start(), scope))
  const parcels = await Svix.parcelsOn(server.origin, SvixServer.token)(program.pool)
  return {
    program,
    parcels,
    receive: Svix.receive,
    ship: async (customer) => {
      if (publishes === "in the transaction") {
        return program.request((id, tx) => parcels.publish({ id, customer }, tx))
      }
      await program.request(async () => {})
      const { rows } = await program.pool.query<{ id: string }>("SELECT id FROM work")
      await program.inTransaction((tx) => Promise.all(rows.map(({ id }) => parcels.publish({ id, customer }, tx))))
    },
    pending: async () => server.sending(),
    close: async () => {
      await parcels.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await program.close()
    }
  }
}

/** Listens for the events of a customer during the body, which gets those that were received so far. */
const receiving = async <A>(
  { parcels }: Shipping,
  customer: string,
  body: (events: ReadonlyArray<Request>, secret: string) => Promise<A>
): Promise<A> => {
  const events: Array<Request> = []
  const receiver = createServer(async (request, response) => {
    const parts: Array<Buffer> = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    const headers = new Headers()
    for (const [name, values = []] of Object.entries(request.headersDistinct)) headers.set(name, values.join(", "))
    events.push(new Request("http://receiver", { method: "POST", headers, body: Buffer.concat(parts) }))
    response.writeHead(204).end()
  }).listen(0, "127.0.0.1")
  await once(receiver, "listening")
  const { port } = receiver.address() as AddressInfo
  const secret = await parcels.subscribe(customer, `http://127.0.0.1:${port}/events`)
  try {
    return await body(events, secret)
  } finally {
    receiver.closeAllConnections()
    receiver.close()
  }
}

const untilAllAreReceived = ({ pending }: Shipping) =>
  vi.waitFor(async () => assert.strictEqual(await pending(), 0), { timeout: 60_000, interval: 50 })

const solutions = {
  "@kinora/webhooks": withKinora,
  "Svix": () => withSvix("in the transaction"),
  "Svix after the commit": () => withSvix("after the commit")
}

compare("events", solutions, {
  "600 transactions, 10 at once, a quarter rolls back after its event: rows without an event, and events without a row":
    (shipping) =>
      receiving(shipping, "ada", async (events, secret) => {
        const { program, receive, ship } = shipping
        await ship("ada")
        await untilAllAreReceived(shipping)
        const ids = await Promise.all(events.map((event) => receive(event, secret)))
        assert.strictEqual(new Set(ids).size, ids.length)
        const { rows: [{ all, inconsistent }] } = await program.pool.query(
          `SELECT count(*) AS all, count(*) FILTER (WHERE work.id IS NULL OR event.id IS NULL) AS inconsistent
          FROM work FULL JOIN unnest($1::text[]) AS event (id) ON event.id = work.id`,
          [ids]
        )
        return `${inconsistent} of ${all}`
      }),
  "an event, then the same with another body: accepted by the receiver": (shipping) =>
    receiving(shipping, "grace", async (events, secret) => {
      const { parcels, program, receive } = shipping
      await program.inTransaction((tx) => parcels.publish({ id: "P-1", customer: "grace" }, tx))
      await untilAllAreReceived(shipping)
      const [event] = events
      const body = (await event!.clone().text()).replace("P-1", "P-2")
      const forged = new Request(event!.url, { method: "POST", headers: event!.headers, body })
      const accepted = [event!, forged].map((request) => receive(request, secret).then(() => "yes", () => "no"))
      return (await Promise.all(accepted)).join(", ")
    })
})
