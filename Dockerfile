# The command and its page, static, without a shell, as a user without rights: `docker build -t loopscope .` after `make dist`.
#
#   docker run --rm -v "$PWD:/work" loopscope check scenario.yaml
#   docker run --rm -p 8001:8001 loopscope serve --listen 0.0.0.0:8001 --token "$TOKEN" --kubeconfig /tmp/kubeconfig
FROM rust:1.95-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
RUN RUSTFLAGS="--remap-path-prefix=/src=loopscope --remap-path-prefix=/usr/local/cargo=cargo" \
    cargo build --release --locked --bin loopscope && strip target/release/loopscope \
    && mkdir -p /image/usr/bin /image/usr/share/loopscope /image/tmp /image/work \
    && cp target/release/loopscope /image/usr/bin/ && cp -r dist /image/usr/share/loopscope/page && chmod 1777 /image/tmp

FROM scratch
COPY --from=build /image /
USER 65532:65532
WORKDIR /work
EXPOSE 8001
ENTRYPOINT ["/usr/bin/loopscope"]
CMD ["--help"]
