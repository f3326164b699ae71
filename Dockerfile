# Driftscope with Chromium, Firefox and WebKitGTK, ready for a pipeline:
#
#   docker build -t driftscope .
#   docker run --rm --shm-size=1g -v "$PWD:/work" driftscope compare model.onnx --right chrome/fast
#
# --shm-size: browsers keep pictures and wasm memory in /dev/shm, of which Docker gives 64 MB.
FROM debian:13-slim AS build
WORKDIR /src
# What is installed depends on these files alone, so that a change of the code fetches nothing anew.
COPY tools/setup tools/setup
COPY tools/setup.d tools/setup.d
COPY package.json package-lock.json .npmrc ./
RUN tools/setup --no-browsers
COPY . .
RUN tools/setup --no-browsers \
 && . "$HOME/.cache/driftscope/env.sh" \
 && cmake --preset native && ninja -C build/native driftscope \
 && cmake --preset web && ninja -C build/web site compressed \
 && tools/image/stage /stage

FROM debian:13-slim
COPY --from=build /stage /opt/driftscope
# Node runs the npm package (npm install /opt/driftscope/npm) beside a team's own tests.
RUN apt-get update \
 && xargs apt-get install -y --no-install-recommends </opt/driftscope/packages \
 && apt-get install -y --no-install-recommends ca-certificates git nodejs npm \
 && apt-get clean && rm -rf /var/lib/apt/lists/* \
 && echo /opt/driftscope/lib >/etc/ld.so.conf.d/driftscope.conf && ldconfig \
 && ln -s /opt/driftscope/bin/driftscope /usr/local/bin/driftscope \
 && driftscope doctor
WORKDIR /work
ENTRYPOINT ["driftscope"]
CMD ["--help"]
