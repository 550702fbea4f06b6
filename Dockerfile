# The command and its page, static, without a shell, as a user without rights. `node scripts/release.mjs image` makes what is in it:
#
#   docker build --build-arg FILES=loopscope-image-0.3.0-x86_64-unknown-linux-musl.tar.gz -t loopscope -f Dockerfile release
#   docker run --rm -v "$PWD:/work" loopscope check scenario.yaml
#   docker run --rm -p 8001:8001 -e LOOPSCOPE_TOKEN loopscope
FROM scratch
ARG FILES
ADD ${FILES} /
USER 65532:65532
WORKDIR /work
EXPOSE 8001
ENTRYPOINT ["/usr/bin/loopscope"]
CMD ["serve", "--page", "--listen", "0.0.0.0:8001", "--kubeconfig", "/tmp/kubeconfig"]
