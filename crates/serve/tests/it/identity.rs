//! Certificates, tokens, and what they may.

use crate::client::Client;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use serve::{ClockPace, ServeOptions, Server, static_tokens};

const PODS: &str = "/api/v1/namespaces/default/pods";
const REVIEW: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

fn server(options: ServeOptions) -> Server {
    Server::start(ServeOptions {
        pace: ClockPace::Held,
        ..options
    })
    .unwrap()
}

fn with_tls() -> ServeOptions {
    ServeOptions {
        tls: true,
        ..ServeOptions::default()
    }
}

fn who(client: &Client) -> Value {
    let body = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" });
    let reply = client.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &body);
    assert_eq!(reply.code, 201, "{}", reply.json());
    reply.json()["status"]["userInfo"].clone()
}

/// Requests a token of the account `default/default`.
fn token(client: &Client, spec: &Value) -> String {
    let path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let reply = client.post(path, &json!({ "spec": spec }));
    assert_eq!(reply.code, 201, "{}", reply.json());
    reply.json()["status"]["token"].as_str().unwrap().to_owned()
}

fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

fn review(client: &Client, token: &str, audiences: &[&str]) -> Value {
    let body = json!({ "spec": { "token": token, "audiences": audiences } });
    client.post(REVIEW, &body).json()["status"].clone()
}

fn pod(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name }, "spec": { "containers": [{ "name": "c", "image": "nginx" }] } })
}

#[test]
fn a_certificate_names_the_administrator_and_others_are_anonymous() {
    let server = server(with_tls());
    assert!(server.url().starts_with("https://127.0.0.1:"));
    let config = server.kubeconfig(None);
    let admin = Client::of_kubeconfig(&server, &config);
    let user = who(&admin);
    assert_eq!(user["username"], "kubernetes-admin");
    assert_eq!(
        user["groups"],
        json!(["system:masters", "system:authenticated"])
    );
    assert_eq!(admin.get(PODS).code, 200);
    assert_eq!(admin.get("/loopscope/time").code, 200);
    let without = config
        .replace("client-certificate-data", "x")
        .replace("client-key-data", "y");
    let nobody = Client::of_kubeconfig(&server, &without);
    let refused = nobody.get(PODS);
    let words = "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"";
    assert_eq!((refused.code, refused.message().as_str()), (403, words));
    assert_eq!(nobody.get("/version").code, 200);
    let refused = nobody.get("/loopscope/time");
    let words = "forbidden: User \"system:anonymous\" cannot get path \"/loopscope/time\"";
    assert_eq!((refused.code, refused.message().as_str()), (403, words));
    assert_eq!(nobody.get("/api").code, 403);
    // Anybody may claim to be somebody, if they may.
    let mut sly = nobody.clone();
    sly.headers
        .push(("impersonate-user".to_owned(), "kubernetes-admin".to_owned()));
    sly.headers
        .push(("impersonate-group".to_owned(), "system:masters".to_owned()));
    let words = "users \"kubernetes-admin\" is forbidden: User \"system:anonymous\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope";
    let refused = sly.get(PODS);
    assert_eq!((refused.code, refused.message().as_str()), (403, words));
}

#[test]
fn whatever_comes_instead_of_tls_concerns_nobody_else() {
    use std::io::{Read, Write};
    let server = server(with_tls());
    for bytes in [
        &b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"[..],
        b"\x16\x03\x01\xff\xff",
        &[0xff; 5_000],
        b"",
    ] {
        let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
        // The server may close while this is sent.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }
    let admin = Client::of_kubeconfig(&server, &server.kubeconfig(None));
    for token in ["a.b.c", "..", "", "eyJhbGciOiJub25lIn0.e30."] {
        let mut odd = admin.clone();
        odd.headers
            .push(("authorization".to_owned(), format!("Bearer {token}")));
        // The certificate is asked first.
        assert_eq!(odd.get(PODS).code, 200, "{token}");
        let without = server
            .kubeconfig(None)
            .replace("client-certificate-data", "x");
        let mut odd = Client::of_kubeconfig(&server, &without.replace("client-key-data", "y"));
        odd.headers
            .push(("authorization".to_owned(), format!("Bearer {token}")));
        let code = if token.is_empty() { 403 } else { 401 };
        assert_eq!(odd.get(PODS).code, code, "{token}");
    }
}

#[test]
fn tokens_over_tls_are_users() {
    let server = server(ServeOptions {
        token: Some("secret".to_owned()),
        tokens: static_tokens("t1,jane,7,\"devs,ops\"\n").unwrap(),
        ..with_tls()
    });
    let admin = Client::of_kubeconfig(&server, &server.kubeconfig(Some("secret")));
    assert_eq!(who(&admin)["username"], "kubernetes-admin");
    let jane = Client::of_kubeconfig(&server, &server.kubeconfig(Some("t1")));
    assert_eq!(
        who(&jane),
        json!({ "username": "jane", "uid": "7", "groups": ["devs", "ops", "system:authenticated"] })
    );
    assert_eq!(jane.get(PODS).code, 403);
    let binding = json!({ "metadata": { "name": "devs" }, "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "devs" }] });
    assert_eq!(
        admin
            .post(
                "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                &binding
            )
            .code,
        201
    );
    assert_eq!(jane.get(PODS).code, 200);
    let wrong = Client::of_kubeconfig(&server, &server.kubeconfig(Some("t2")));
    let refused = wrong.get(PODS);
    assert_eq!(
        (refused.code, refused.json()["reason"].as_str()),
        (401, Some("Unauthorized"))
    );
}

#[test]
fn a_token_of_an_account_is_signed_and_rbac_decides() {
    let server = server(ServeOptions::default());
    let admin = Client::http(&server);
    let issued = token(&admin, &json!({ "expirationSeconds": 600 }));
    let claims = claims(&issued);
    let account = admin
        .get("/api/v1/namespaces/default/serviceaccounts/default")
        .json();
    let uid = &account["metadata"]["uid"];
    assert_eq!(claims["iss"], ISSUER);
    assert_eq!(claims["aud"], json!([ISSUER]));
    assert_eq!(claims["sub"], "system:serviceaccount:default:default");
    let numbers = ["iat", "nbf", "exp"].map(|name| claims[name].as_i64().unwrap());
    assert_eq!((numbers[1] - numbers[0], numbers[2] - numbers[0]), (0, 600));
    assert_eq!(claims["jti"].as_str().map(str::len), Some(36));
    assert_eq!(
        claims["kubernetes.io"],
        json!({ "namespace": "default", "serviceaccount": { "name": "default", "uid": uid } })
    );
    let own = Client::http(&server).with_token(&issued);
    let user = who(&own);
    assert_eq!(user["username"], "system:serviceaccount:default:default");
    assert_eq!(user["uid"], *uid);
    assert_eq!(
        user["groups"],
        json!([
            "system:serviceaccounts",
            "system:serviceaccounts:default",
            "system:authenticated"
        ])
    );
    assert_eq!(
        user["extra"]["authentication.kubernetes.io/credential-id"],
        json!([format!("JTI={}", claims["jti"].as_str().unwrap())])
    );
    assert_eq!(own.get(PODS).code, 403);
    let binding = json!({ "metadata": { "name": "view" }, "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
        "subjects": [{ "kind": "ServiceAccount", "name": "default", "namespace": "default" }] });
    assert_eq!(
        admin
            .post(
                "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
                &binding
            )
            .code,
        201
    );
    assert_eq!(own.get(PODS).code, 200);
    assert_eq!(own.get("/api/v1/pods").code, 403);
    // A changed token, one of another server, and one that has expired by the cluster's clock are none.
    let (text, _) = issued.rsplit_once('.').unwrap();
    let forged = format!("{text}.{}", URL_SAFE_NO_PAD.encode([1; 64]));
    assert_eq!(
        Client::http(&server).with_token(&forged).get(PODS).code,
        401
    );
    assert_eq!(
        review(&admin, &forged, &[]),
        json!({ "error": "[invalid bearer token]" })
    );
    let other = self::server(ServeOptions::default());
    assert_eq!(Client::http(&other).with_token(&issued).get(PODS).code, 401);
    admin.pass(601);
    assert_eq!(own.get(PODS).code, 401);
    let error = "[invalid bearer token, service account token has expired]";
    assert_eq!(review(&admin, &issued, &[]), json!({ "error": error }));
}

#[test]
fn a_token_lives_as_long_as_what_it_is_bound_to() {
    let server = server(ServeOptions::default());
    let admin = Client::http(&server);
    assert_eq!(admin.post(PODS, &pod("one")).code, 201);
    admin.pass(5);
    let made = admin.get(&format!("{PODS}/one")).json();
    let reference = json!({ "apiVersion": "v1", "kind": "Pod", "name": "one" });
    let issued = token(
        &admin,
        &json!({ "expirationSeconds": 3607, "boundObjectRef": reference, "audiences": [ISSUER] }),
    );
    let claims = claims(&issued);
    let bound = &claims["kubernetes.io"];
    assert_eq!(
        bound["pod"],
        json!({ "name": "one", "uid": made["metadata"]["uid"] })
    );
    assert_eq!(bound["node"]["name"], made["spec"]["nodeName"]);
    let (issued_at, expiry) = (
        claims["iat"].as_i64().unwrap(),
        claims["exp"].as_i64().unwrap(),
    );
    assert_eq!(
        (bound["warnafter"].as_i64(), expiry - issued_at),
        (Some(issued_at + 3607), 365 * 24 * 3600)
    );
    let own = Client::http(&server).with_token(&issued);
    let extra = &who(&own)["extra"];
    assert_eq!(
        extra["authentication.kubernetes.io/pod-name"],
        json!(["one"])
    );
    assert_eq!(
        extra["authentication.kubernetes.io/node-name"],
        json!([made["spec"]["nodeName"]])
    );
    assert_eq!(
        admin
            .delete(&format!("{PODS}/one?gracePeriodSeconds=0"))
            .code,
        200
    );
    assert_eq!(own.get("/api").code, 401);
    let error = "[invalid bearer token, service account token has been invalidated]";
    assert_eq!(review(&admin, &issued, &[]), json!({ "error": error }));
    // Neither may it be bound to what does not exist.
    let path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    assert_eq!(
        admin
            .post(path, &json!({ "spec": { "boundObjectRef": reference } }))
            .code,
        404
    );
}

#[test]
fn a_token_review_knows_audiences() {
    let server = server(ServeOptions::default());
    let admin = Client::http(&server);
    let issued = token(&admin, &json!({ "audiences": ["vault", "other"] }));
    let status = review(&admin, &issued, &["vault", "more"]);
    assert_eq!(
        (&status["authenticated"], &status["audiences"]),
        (&json!(true), &json!(["vault"]))
    );
    assert_eq!(
        status["user"]["username"],
        "system:serviceaccount:default:default"
    );
    let error = "[invalid bearer token, token audiences [\"vault\" \"other\"] is invalid for the target audiences [\"https://kubernetes.default.svc.cluster.local\"]]";
    assert_eq!(review(&admin, &issued, &[]), json!({ "error": error }));
    // The API server is none of them.
    assert_eq!(
        Client::http(&server).with_token(&issued).get(PODS).code,
        401
    );
}

#[test]
fn keys_are_published_and_verify_tokens() {
    let server = server(with_tls());
    let admin = Client::of_kubeconfig(&server, &server.kubeconfig(None));
    let configuration = admin.get("/.well-known/openid-configuration").json();
    assert_eq!(configuration["issuer"], ISSUER);
    let jwks = configuration["jwks_uri"].as_str().unwrap();
    assert_eq!(jwks, format!("{}/openid/v1/jwks", server.url()));
    let key = &admin.get("/openid/v1/jwks").json()["keys"][0];
    let issued = token(&admin, &json!({}));
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let (text, signature) = issued.rsplit_once('.').unwrap();
    let header: Value = serde_json::from_slice(&decode(text.split('.').next().unwrap())).unwrap();
    assert_eq!(header, json!({ "alg": "ES256", "kid": key["kid"] }));
    let mut point = vec![4];
    point.extend(decode(key["x"].as_str().unwrap()));
    point.extend(decode(key["y"].as_str().unwrap()));
    assert_eq!(point.len(), 65);
    ring::signature::UnparsedPublicKey::new(&ring::signature::ECDSA_P256_SHA256_FIXED, &point)
        .verify(text.as_bytes(), &decode(signature))
        .unwrap();
}

#[test]
fn a_secret_holds_a_token_of_its_account() {
    let server = server(ServeOptions::default());
    let admin = Client::http(&server);
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = |name: &str, account: &str| {
        json!({ "metadata": { "name": name, "annotations": { "kubernetes.io/service-account.name": account } },
        "type": "kubernetes.io/service-account-token" })
    };
    assert_eq!(admin.post(secrets, &secret("own", "default")).code, 201);
    let found = admin.get(&format!("{secrets}/own")).json();
    let decode = |text: &Value| {
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(text.as_str().unwrap())
            .unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!(decode(&found["data"]["namespace"]), "default");
    let issued = decode(&found["data"]["token"]);
    assert_eq!(
        claims(&issued)["kubernetes.io/serviceaccount/secret.name"],
        "own"
    );
    let own = Client::http(&server).with_token(&issued);
    assert_eq!(
        who(&own)["username"],
        "system:serviceaccount:default:default"
    );
    assert_eq!(admin.delete(&format!("{secrets}/own")).code, 200);
    assert_eq!(own.get("/api").code, 401);
    // Without an account the Secret is deleted.
    assert_eq!(admin.post(secrets, &secret("lost", "nobody")).code, 201);
    assert_eq!(admin.get(&format!("{secrets}/lost")).code, 404);
    // The history holds the token that was made.
    let record = String::from_utf8(admin.get("/loopscope/record").body).unwrap();
    let second = self::server(ServeOptions {
        resume: Some(record),
        ..ServeOptions::default()
    });
    let other = Client::http(&second);
    let (one, two) = (admin.get(secrets), other.get(secrets));
    assert_eq!(
        String::from_utf8_lossy(&one.body),
        String::from_utf8_lossy(&two.body)
    );
}

#[test]
fn histories_do_not_depend_on_keys() {
    let record = || {
        let server = server(with_tls());
        let admin = Client::of_kubeconfig(&server, &server.kubeconfig(None));
        assert_eq!(admin.post(PODS, &pod("one")).code, 201);
        token(&admin, &json!({}));
        admin.pass(10);
        String::from_utf8(admin.get("/loopscope/record").body).unwrap()
    };
    assert_eq!(record(), record());
}
