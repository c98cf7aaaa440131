/** Input images: inside the request and as uploads. */
import { expect } from "@effect/vitest"
import type { Account } from "../../src/conformance/Stage.ts"
import type { RawClient } from "../../src/RawHttp.ts"
import * as Calls from "./calls.ts"
import * as Pictures from "./pictures.ts"
import type { Define } from "./Suite.ts"

interface Upload {
  readonly id: string
  readonly mime: string
  readonly bytes: number
  readonly width: number
  readonly height: number
  readonly expires_at: string
}

const picture = Pictures.base64(Pictures.png(32, 20))

const withImages = (account: Account, images: ReadonlyArray<unknown>) => Calls.create(account, { params: { images } })

const send = (account: RawClient, bytes: Buffer<ArrayBuffer>, type = "image/png") =>
  account.send("/v1/uploads", { method: "POST", headers: { "content-type": type }, body: bytes })

/** Uploads an image of 32 x 20 pixels. */
const upload = async (account: Account): Promise<Upload> => {
  const response = await send(account, Pictures.png(32, 20))
  expect(response.status).toBe(201)
  return Calls.jsonOf<Upload>(response)
}

const refuseImage = async (response: Response, index = 0) => {
  const { details } = await Calls.refusalOf(response, 400, "invalid_image")
  expect(details["index"]).toBe(index)
}

export const inputs = (define: Define): void => {
  inline(define)
  uploads(define)
}

const inline = ({ holds }: Define): void => {
  holds(["parameters.images", "input-images.one"], async (stage) => {
    const account = await stage.openAccount()
    const response = await withImages(account, [{ data: picture, mime: "image/png" }])
    expect([response.status, await response.json()]).toEqual([
      201,
      expect.objectContaining({
        mode: "image_to_image",
        params: expect.objectContaining({ images: [{ index: 0, mime: "image/png", width: 32, height: 20 }] })
      })
    ])
    const { id } = await upload(account)
    expect((await withImages(account, [{ upload_id: id }])).status).toBe(201)
  })

  holds(["input-images.one", "input-images.uploadId"], async (stage) => {
    const account = await stage.openAccount()
    const { id } = await upload(account)
    await refuseImage(await withImages(account, [{ data: picture }, { data: picture, upload_id: id }]), 1)
    await refuseImage(await withImages(account, [{}]))
    await refuseImage(await withImages(account, [{ mime: "image/png" }]))
  })

  holds("input-images.dataUrl", async (stage) => {
    const account = await stage.openAccount()
    expect((await withImages(account, [{ data: `data:image/png;base64,${picture}` }])).status).toBe(201)
    await refuseImage(await withImages(account, [{ data: `data:image/jpeg;base64,${picture}` }]))
  })

  holds("input-images.types", async (stage) => {
    const account = await stage.openAccount()
    const [jpeg, webp] = [Pictures.jpeg, Pictures.webp].map(Pictures.base64)
    const { params } = await Calls.createJob(account, { params: { images: [{ data: jpeg }, { data: webp }] } })
    expect(params["images"]).toEqual([
      { index: 0, mime: "image/jpeg", width: 24, height: 16 },
      { index: 1, mime: "image/webp", width: 24, height: 16 }
    ])
    const gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
    await refuseImage(await withImages(account, [{ data: gif }]))
    await refuseImage(await withImages(account, [{ data: Pictures.base64(Buffer.from("<svg/>")) }]))
  })

  holds("input-images.mime", async (stage) => {
    const account = await stage.openAccount()
    await refuseImage(await withImages(account, [{ data: picture, mime: "image/webp" }]))
    expect((await withImages(account, [{ data: picture, mime: "image/png" }])).status).toBe(201)
  })

  holds("input-images.bytes", async (stage) => {
    const account = await stage.openAccount()
    const max = 10 * 1024 * 1024
    const ofSize = (bytes: number) => [{ data: Pictures.base64(Pictures.padded(bytes)) }]
    await refuseImage(await withImages(account, ofSize(max + 1)))
    expect((await withImages(account, ofSize(max))).status).toBe(201)
  })

  holds("input-images.pixels", async (stage) => {
    const account = await stage.openAccount()
    await refuseImage(await withImages(account, [{ data: Pictures.base64(Pictures.png(8000, 5001)) }]))
    expect((await withImages(account, [{ data: Pictures.base64(Pictures.png(8000, 5000)) }])).status).toBe(201)
  })

  holds("input-images.broken", async (stage) => {
    const account = await stage.openAccount()
    const whole = Pictures.png(32, 20)
    await refuseImage(await withImages(account, [{ data: Pictures.base64(whole.subarray(0, whole.length - 30)) }]))
    await refuseImage(await withImages(account, [{ data: picture }, { data: "not base64!" }]), 1)
    await refuseImage(await withImages(account, [{ data: "" }]))
  })

  holds("input-images.body", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "slow" })
    const body = (bytes: number) => `{"x":"${"x".repeat(bytes - 8)}"}`
    const mebi = 1024 * 1024
    const refused = [
      await account.post("/v1/generations", body(48 * mebi + 1)),
      await account.post("/v1/images/generations", body(48 * mebi + 1)),
      await account.post(`/v1/generations/${id}/cancel`, body(mebi + 1))
    ]
    for (const response of refused) await Calls.refusalOf(response, 413, "payload_too_large")
    await Calls.refusalOf(await account.post("/v1/generations", body(2 * mebi)), 400, "invalid_request")
  })
}

const uploads = ({ holds, inTime }: Define): void => {
  holds([
    "uploads.create",
    "uploads.id",
    "uploads.mimeType",
    "uploads.bytes",
    "uploads.width",
    "uploads.height",
    "identifiers.ids",
    "identifiers.accountIds",
    "identifiers.uploadIds"
  ], async (stage) => {
    const account = await stage.openAccount()
    const { id: job } = await Calls.createJob(account)
    const made = await upload(account)
    expect(made).toEqual({
      id: expect.stringMatching(/^upl_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      mime: "image/png",
      bytes: expect.toSatisfy((bytes) => Number.isSafeInteger(bytes) && bytes > 0),
      width: 32,
      height: 20,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    })
    expect(job).toMatch(/^gen_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
    expect(account.id).toMatch(/^acct_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  })

  holds("uploads.multipart", async (stage) => {
    const account = await stage.openAccount()
    const form = new FormData()
    form.set("file", new File([Pictures.webp], "lake.webp", { type: "image/webp" }))
    const response = await account.send("/v1/uploads", { method: "POST", body: form })
    expect([response.status, await response.json()]).toEqual([
      201,
      expect.objectContaining({ mime: "image/webp", width: 24, height: 16 })
    ])
  })

  holds("uploads.use", async (stage) => {
    const [account, other] = [await stage.openAccount(), await stage.openAccount()]
    const { id } = await upload(account)
    for (const prompt of ["one", "two"]) {
      const { params } = await Calls.createJob(account, { params: { prompt, images: [{ upload_id: id }] } })
      expect(params["images"]).toEqual([{ index: 0, mime: "image/png", width: 32, height: 20 }])
    }
    await Calls.refusalOf(await withImages(other, [{ upload_id: id }]), 404, "upload_not_found")
    await Calls.refusalOf(await other.send(`/v1/uploads/${id}`, { method: "DELETE" }), 404, "upload_not_found")
  })

  holds("uploads.delete", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await upload(account)
    const remove = () => account.send(`/v1/uploads/${id}`, { method: "DELETE" })
    const removed = await remove()
    expect([removed.status, await removed.text()]).toEqual([204, ""])
    await Calls.refusalOf(await withImages(account, [{ upload_id: id }]), 404, "upload_not_found")
    await Calls.refusalOf(await remove(), 404, "upload_not_found")
  })

  inTime("uploads.expiresAt", async (stage) => {
    const account = await stage.openAccount()
    const { expires_at, id } = await upload(account)
    expect(Date.parse(expires_at) - stage.now().getTime()).toBe(24 * 3_600_000)
    await stage.advance({ hours: 23, minutes: 59, seconds: 59 })
    expect((await withImages(account, [{ upload_id: id }])).status).toBe(201)
    await stage.advance("1 second")
    await Calls.refusalOf(
      await Calls.create(account, { params: { prompt: "late", images: [{ upload_id: id }] } }),
      404,
      "upload_not_found"
    )
  })
}
