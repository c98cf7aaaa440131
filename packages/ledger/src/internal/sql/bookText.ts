/** Books as text in SQL: a lot as `lot:<uuid>`, any other book by its name. */
import type { Book } from "../Book.ts"
import { isLot } from "../Book.ts"
import { LotId } from "../ids.ts"

/** Encodes a book. */
export const fromBook = (book: Book): string => isLot(book) ? `lot:${LotId.toUuid(book)}` : book

/** Decodes a book. */
export const toBook = (text: string): Book =>
  text.startsWith("lot:") ? LotId.fromUuid(text.slice("lot:".length)) : text as Book // written by `fromBook`
