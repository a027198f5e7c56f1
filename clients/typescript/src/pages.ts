/** Lists that come in pages. */

export interface Page<Item> {
  items: Item[];
  /** Give it to `page` to read on; null on the last page. */
  next_cursor: string | null;
}

/**
 * A list of the gateway: `for await (const item of list)` reads it page by page, as far as the loop goes. Each loop
 * begins at the first page.
 */
export class List<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read;
  }

  /** One page: the first, or the one behind a cursor. */
  page(cursor?: string | null): Promise<Page<Item>> {
    return this.#read(cursor ?? undefined);
  }

  /** All pages, one after the other. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | null | undefined;
    do {
      const page: Page<Item> = await this.page(cursor);
      yield page;
      cursor = page.next_cursor;
    } while (cursor);
  }

  /** At most `limit` items, as an array. */
  async take(limit: number): Promise<Item[]> {
    const taken: Item[] = [];
    if (limit > 0) {
      for await (const item of this) {
        taken.push(item);
        if (taken.length >= limit) break;
      }
    }
    return taken;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }
}
