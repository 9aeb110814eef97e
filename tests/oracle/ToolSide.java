import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.security.Permission;
import java.security.Policy;
import java.security.ProtectionDomain;
import java.util.Base64;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's own command line tools, many runs in one machine: each line of standard input is a class and its arguments,
 * separated by the unit separator; each answer is the exit code, and what went to stdout and stderr, in base64. A class
 * may be followed by '&lt;' and what the tool finds on its standard input, in base64.
 */
public final class ToolSide {
    private static final class Ended extends RuntimeException {
    }

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final List<Runnable> hooks = new ArrayList<>();
    private Integer code;

    /** The first exit counts: what a tool says while our exception unwinds it is not part of its output. */
    private void exit(int wanted) {
        if (code == null) {
            code = wanted;
            end();
            System.out.flush();
            System.err.flush();
            PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
            System.setOut(nowhere);
            System.setErr(nowhere);
        }
        throw new Ended();
    }

    /** What a tool left to do for when the machine goes down, a flush mostly. */
    private void end() {
        List<Runnable> left = new ArrayList<>(hooks);
        hooks.clear();
        left.forEach(Runnable::run);
    }

    /** For tools that end by System.exit(), which takes no procedure: argparse4j's, and ZooKeeper's shell. */
    @SuppressWarnings({"deprecation", "removal"})
    private void catchExits() {
        Policy.setPolicy(new Policy() {
            @Override
            public boolean implies(ProtectionDomain any, Permission wanted) {
                return true;
            }
        });
        System.setSecurityManager(new SecurityManager() {
            @Override
            public void checkExit(int wanted) {
                exit(wanted);
            }

            @Override
            public void checkPermission(Permission any) {
            }
        });
    }

    private String run(String line) {
        String[] words = line.split("\u001f", -1);
        String[] tool = words[0].split("<", -1);
        String[] args = java.util.Arrays.copyOfRange(words, 1, words.length);
        out.reset();
        err.reset();
        code = null;
        System.setOut(new PrintStream(out));
        System.setErr(new PrintStream(err));
        System.setIn(new ByteArrayInputStream(tool.length > 1 ? Base64.getDecoder().decode(tool[1]) : new byte[0]));
        try {
            Class.forName(tool[0]).getMethod("main", String[].class).invoke(null, (Object) args);
            end();
        } catch (ReflectiveOperationException e) {
            if (code == null && !(e.getCause() instanceof Ended)) {
                code = 1;
                System.err.println("Exception in thread \"main\" " + e.getCause());
            }
        }
        System.out.flush();
        System.err.flush();
        Base64.Encoder b64 = Base64.getEncoder();
        return (code == null ? 0 : code) + " =" + b64.encodeToString(out.toByteArray())
            + " =" + b64.encodeToString(err.toByteArray());
    }

    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        ToolSide side = new ToolSide();
        Exit.setExitProcedure((code, message) -> side.exit(code));
        Exit.setShutdownHookAdder((name, hook) -> side.hooks.add(hook));
        Exit.setHaltProcedure((code, message) -> side.exit(code));
        side.catchExits();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            answers.println(side.run(line));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }
}
