/** The notation of `parseTimeline`, for a command's `--help`. */
export const TIMELINE_HELP = `A script is one line of steps, word@seconds, counted from the arrival of the request:

  open@0.1 d@1"Hello" d@1.2" world" f@1.5 u(12,2)

  open@x          200 and the role frame (default 0.1 s); open(bare)@x: headers only
  d@x"text"       text           r@x"text"  reasoning
  g@x"{}"         tool arguments; g(name)@x"{}" begins another call
  e@x             frame without output; e(role)@x, e(choices)@x: role only, no choices
  k@x             comment (keep-alive)
  u@x(12,34)      usage: tokens in, tokens out
  f@x             finish reason "stop"; f(length)@x: another. The end marker and a clean
                  end follow, unless a later step says how it ends
  D@x             end marker [DONE]
  eof@x           clean end      rst@x      connection reset
  err@x(code,"message")          error frame in the stream
  bad@x           broken JSON frame; bad@x"raw": with this data
  503@x           HTTP answer; 429@x(ra=7): with Retry-After; 400@x(code,"message")
  hang            nothing more, the socket stays open; so does it where no end is said

  d@1..5/0.5"tick "   repeats: one each half second from 1 to 5 (d r g e k u bad)

A step without a time comes with the step before it. Texts have the escapes of JSON and may be left out.
Asked with "stream": false, the answer comes whole when the script would finish.
In a file: one script a line; lines that begin with # are comments.`;
