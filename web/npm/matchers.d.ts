import type { CompareOptions } from "./index.d.ts";

/** What a matcher is given: a model and where it runs. */
export interface ModelRun extends Omit<CompareOptions, "left" | "right"> {
  target: string | string[];
}

export declare const matchers: {
  toAgreeWith(
    run: ModelRun,
    reference: string,
    options?: Partial<CompareOptions>,
  ): Promise<{ pass: boolean; message: () => string }>;
};

interface AgreeMatchers<R = unknown> {
  /** Fails on a layer that no rounding explains and on another best class, unless `failOn` says otherwise. */
  toAgreeWith(reference: string, options?: Partial<CompareOptions>): Promise<R>;
}

declare global {
  namespace jest {
    // eslint-disable-next-line @typescript-eslint/no-empty-interface
    interface Matchers<R> extends AgreeMatchers<R> {}
  }
}
